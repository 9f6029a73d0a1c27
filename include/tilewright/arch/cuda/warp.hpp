// SPDX-License-Identifier: Apache-2.0
// warp.hpp  The multiply of a warp, in registers.
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// D (16, 8) += A (16, 16) * B (16, 8), E: bf16 or f16. Lane l has of A, in pairs of neighbours
/// along K, (l / 4, 2 * (l % 4)), the same 8 rows further, then both 8 columns further; of B
/// (2 * (l % 4), l / 4) and 8 rows further; of D (l / 4, 2 * (l % 4)), its right neighbour, and
/// both 8 rows further. PTX ISA, "Matrix Fragments for mma.m16n8k16".
template <elem E>
TW_DEVICE void mma_sync(float (&d)[4], b32<4> a, b32<2> b) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] mma_sync multiplies bf16 or f16");
  if constexpr (E == elem::bf16)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
}

/// mma_sync() with 8 elements along K: A is 16 x 8, B 8 x 8. Register i of A holds element (l / 4,
/// 2 * (l % 4)) of rows 8 i and up, and its right neighbour; that of B (2 * (l % 4), l / 4) and the
/// element below. PTX ISA, "Matrix Fragments for mma.m16n8k8".
template <elem E>
TW_DEVICE void mma_sync(float (&d)[4], b32<2> a, b32<1> b) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] mma_sync multiplies bf16 or f16");
  if constexpr (E == elem::bf16)
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(b.r[0]));
  else
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.r[0]), "r"(a.r[1]), "r"(b.r[0]));
}

/// f16 operands and f16 sums: a register of D holds an element and its right neighbour, the second
/// one those 8 rows further. PTX ISA, "Matrix Fragments for mma.m16n8k16".
template <elem E>
TW_DEVICE void mma_sync(b32<2>& d, b32<4> a, b32<2> b) {
  static_assert(E == elem::f16, "[TW0202] mma_sync adds f16 sums of f16 operands");
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(d.r[0]), "+r"(d.r[1])
      : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
}
/// PTX ISA, "Matrix Fragments for mma.m16n8k8".
template <elem E>
TW_DEVICE void mma_sync(b32<2>& d, b32<2> a, b32<1> b) {
  static_assert(E == elem::f16, "[TW0202] mma_sync adds f16 sums of f16 operands");
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d.r[0]), "+r"(d.r[1])
      : "r"(a.r[0]), "r"(a.r[1]), "r"(b.r[0]));
}

}  // namespace tw
