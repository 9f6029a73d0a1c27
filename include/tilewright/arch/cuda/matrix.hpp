// SPDX-License-Identifier: Apache-2.0
// matrix.hpp  8x8 matrices of 16-bit elements between registers and shared memory, and packing.
//
// Lane l gives the address of row l % 8 of matrix l / 8 (16 bytes); lanes beyond 8 * Count give any
// address of shared memory. Register i of lane l holds element (l / 4, 2 * (l % 4)) of matrix i and
// the next in its row; transposed: element (2 * (l % 4), l / 4) and the next in its column.
#pragma once

#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/packed.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// PTX ISA, "stmatrix".
template <int Count, bool Transposed = false, class Target = detail::this_target>
TW_DEVICE void stmatrix(void* row, b32<Count> v) {
  detail::need_sm90<Target>();
  static_assert(Count == 1 || Count == 2 || Count == 4);
  std::uint32_t const at = smem_addr(row);
  if constexpr (Count == 1 && !Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared::cta.b16 [%0], {%1};" ::"r"(at), "r"(v.r[0])
                 : "memory");
  else if constexpr (Count == 1)
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 [%0], {%1};" ::"r"(at),
                 "r"(v.r[0])
                 : "memory");
  else if constexpr (Count == 2 && !Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared::cta.b16 [%0], {%1, %2};" ::"r"(at),
                 "r"(v.r[0]), "r"(v.r[1])
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [%0], {%1, %2};" ::"r"(at),
                 "r"(v.r[0]), "r"(v.r[1])
                 : "memory");
  else if constexpr (!Transposed)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(v.r[0]), "r"(v.r[1]), "r"(v.r[2]), "r"(v.r[3])
                 : "memory");
  else
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
        "r"(v.r[0]), "r"(v.r[1]), "r"(v.r[2]), "r"(v.r[3])
        : "memory");
}

/// PTX ISA, "ldmatrix".
template <int Count, bool Transposed = false>
TW_DEVICE b32<Count> ldmatrix(void const* row) {
  static_assert(Count == 1 || Count == 2 || Count == 4);
  std::uint32_t const at = smem_addr(row);
  b32<Count> v;
  if constexpr (Count == 1 && !Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%0}, [%1];"
                 : "=r"(v.r[0])
                 : "r"(at)
                 : "memory");
  else if constexpr (Count == 1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared::cta.b16 {%0}, [%1];"
                 : "=r"(v.r[0])
                 : "r"(at)
                 : "memory");
  else if constexpr (Count == 2 && !Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(v.r[0]), "=r"(v.r[1])
                 : "r"(at)
                 : "memory");
  else if constexpr (Count == 2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2];"
                 : "=r"(v.r[0]), "=r"(v.r[1])
                 : "r"(at)
                 : "memory");
  else if constexpr (!Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.r[0]), "=r"(v.r[1]), "=r"(v.r[2]), "=r"(v.r[3])
                 : "r"(at)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.r[0]), "=r"(v.r[1]), "=r"(v.r[2]), "=r"(v.r[3])
                 : "r"(at)
                 : "memory");
  return v;
}

/// Two values rounded to nearest even, `lo` in the lower bits. E: bf16 or f16, in 32 bits; e4m3 or
/// e5m2, which saturate, in 16. PTX ISA, "cvt".
template <elem E>
TW_DEVICE std::uint32_t pack2(float lo, float hi) {
  static_assert(E == elem::bf16 || E == elem::f16 || E == elem::e4m3 || E == elem::e5m2,
                "[TW0202] pack2 rounds to bf16, f16, e4m3 or e5m2");
  std::uint32_t both;
  if constexpr (E == elem::bf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(hi), "f"(lo));
  } else if constexpr (E == elem::f16) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(hi), "f"(lo));
  } else {
    std::uint16_t bytes;
    if constexpr (E == elem::e4m3)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(bytes) : "f"(hi), "f"(lo));
    else
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(bytes) : "f"(hi), "f"(lo));
    both = bytes;
  }
  return both;
}

/// Two 8-bit floats, the lower byte of `bits` first, as f16, exactly. E: e4m3 or e5m2. PTX ISA,
/// "cvt".
template <elem E>
TW_DEVICE f16x2 unpack_fp8(std::uint32_t bits) {
  static_assert(E == elem::e4m3 || E == elem::e5m2, "[TW0202] unpack_fp8 reads e4m3 or e5m2");
  f16x2 both;
  auto const in = static_cast<std::uint16_t>(bits);
  if constexpr (E == elem::e4m3)
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both.bits) : "h"(in));
  else
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(both.bits) : "h"(in));
  return both;
}

/// The exact value of 16 bits. E: bf16 or f16. PTX ISA, "cvt"; a bf16 is the upper half of a float.
template <elem E>
TW_DEVICE float to_float(std::uint16_t bits) {
  static_assert(E == elem::bf16 || E == elem::f16, "[TW0202] to_float reads bf16 or f16");
  if constexpr (E == elem::bf16) {
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
  } else {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
}

}  // namespace tw
