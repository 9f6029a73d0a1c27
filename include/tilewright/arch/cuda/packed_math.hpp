// SPDX-License-Identifier: Apache-2.0
// packed_math.hpp  Arithmetic on two 16-bit floats at once, and on the bytes and bits of registers:
//                  what dequantises int4 and fp8.
#pragma once

#include <cstdint>

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/packed.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

// Each half is rounded to nearest even on its own; subnormal numbers stay.

/// a + b. PTX ISA, "add".
template <class Target = detail::this_target>
TW_DEVICE f16x2 packed_add(f16x2 a, f16x2 b) {
  detail::need_sm90<Target>();
  f16x2 d;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// a * b. PTX ISA, "mul".
template <class Target = detail::this_target>
TW_DEVICE f16x2 packed_mul(f16x2 a, f16x2 b) {
  detail::need_sm90<Target>();
  f16x2 d;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// a * b + c, rounded once. PTX ISA, "fma".
template <class Target = detail::this_target>
TW_DEVICE f16x2 packed_fma(f16x2 a, f16x2 b, f16x2 c) {
  detail::need_sm90<Target>();
  f16x2 d;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return d;
}
/// The smaller one; a NaN gives way to a number. PTX ISA, "min".
template <class Target = detail::this_target>
TW_DEVICE f16x2 packed_min(f16x2 a, f16x2 b) {
  detail::need_sm90<Target>();
  f16x2 d;
  asm("min.f16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// The larger one; a NaN gives way to a number. PTX ISA, "max".
template <class Target = detail::this_target>
TW_DEVICE f16x2 packed_max(f16x2 a, f16x2 b) {
  detail::need_sm90<Target>();
  f16x2 d;
  asm("max.f16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// a + b. PTX ISA, "add".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 packed_add(bf16x2 a, bf16x2 b) {
  detail::need_sm90<Target>();
  bf16x2 d;
  asm("add.rn.bf16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// a * b. PTX ISA, "mul".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 packed_mul(bf16x2 a, bf16x2 b) {
  detail::need_sm90<Target>();
  bf16x2 d;
  asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// a * b + c, rounded once. PTX ISA, "fma".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 packed_fma(bf16x2 a, bf16x2 b, bf16x2 c) {
  detail::need_sm90<Target>();
  bf16x2 d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits), "r"(c.bits));
  return d;
}
/// The smaller one; a NaN gives way to a number. PTX ISA, "min".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 packed_min(bf16x2 a, bf16x2 b) {
  detail::need_sm90<Target>();
  bf16x2 d;
  asm("min.bf16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}
/// The larger one; a NaN gives way to a number. PTX ISA, "max".
template <class Target = detail::this_target>
TW_DEVICE bf16x2 packed_max(bf16x2 a, bf16x2 b) {
  detail::need_sm90<Target>();
  bf16x2 d;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(d.bits) : "r"(a.bits), "r"(b.bits));
  return d;
}

/// Four bytes of a (numbers 0 to 3) and b (4 to 7): the i-th by bits 4 * i to 4 * i + 2 of the
/// selector; with bit 4 * i + 3 its sign fills the byte. PTX ISA, "prmt".
TW_DEVICE std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  std::uint32_t d;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(selector));
  return d;
}
/// Any function of three bits, bit by bit: Table is what it makes of 0xF0, 0xCC and 0xAA, as
/// lop3<(0xF0 & 0xCC) | 0xAA>(a, b, c) for (a & b) | c. PTX ISA, "lop3".
template <int Table>
TW_DEVICE std::uint32_t lop3(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  static_assert(Table >= 0 && Table <= 0xFF, "[TW0265] the table of lop3 has 8 bits");
  std::uint32_t d;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(d) : "r"(a), "r"(b), "r"(c), "n"(Table));
  return d;
}

}  // namespace tw
