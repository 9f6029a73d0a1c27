// SPDX-License-Identifier: Apache-2.0
// mma_type.hpp  Number formats of tensor-core operands, their sizes and their names.
//
// base/elem.hpp has the formats that Tilewright computes with; instructions know more of them.
// Source: PTX ISA, "Fundamental Types", "Alternate Floating-Point Data Formats", "Matrix
// Data-types".
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

enum class mma_type : std::uint8_t {
  none,
  f64,
  f32,
  tf32,
  f16,
  bf16,
  e4m3,
  e5m2,
  e2m3,
  e3m2,
  e2m1,
  ue8m0,
  ue4m3,
  s32,
  s16,
  s8,
  u8,
  s4,
  u4,
  b1,
  c64,  // a complex number of two f64, multiplied by four f64 instructions
  gc64  // the same by three (Gauss), with three f64 sums
};

inline constexpr int mma_type_count = 22;

/// PTX's word for a format; c64 and gc64 are words of the field.
TW_HD constexpr char const* name(mma_type t) {
  constexpr char const* names[mma_type_count] = {
      "none",  "f64",   "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1",
      "ue8m0", "ue4m3", "s32", "s16",  "s8",  "u8",   "s4",   "u4",   "b1",   "c64",  "gc64"};
  return names[static_cast<int>(t)];
}

/// Bits of the format itself; an instruction may keep it in a wider container.
TW_HD constexpr int size_bits(mma_type t) {
  constexpr int bits[mma_type_count] = {0, 64, 32, 32, 16, 16, 8, 8, 6, 6,   4,
                                        8, 8,  32, 16, 8,  8,  4, 4, 1, 128, 192};
  return bits[static_cast<int>(t)];
}

TW_HD constexpr mma_type mma_type_of(elem e) {
  switch (e) {
    case elem::f32: return mma_type::f32;
    case elem::tf32: return mma_type::tf32;
    case elem::f16: return mma_type::f16;
    case elem::bf16: return mma_type::bf16;
    case elem::e4m3: return mma_type::e4m3;
    case elem::e5m2: return mma_type::e5m2;
    case elem::s32: return mma_type::s32;
    case elem::s8: return mma_type::s8;
    case elem::u8: return mma_type::u8;
    case elem::e2m3: return mma_type::e2m3;
    case elem::e3m2: return mma_type::e3m2;
    case elem::e2m1: return mma_type::e2m1;
    case elem::ue8m0: return mma_type::ue8m0;
    case elem::ue4m3: return mma_type::ue4m3;
  }
  return mma_type::none;
}

/// A set of formats.
struct mma_types {
  std::uint32_t bits = 0;

  template <class... T>
  TW_HD static constexpr mma_types of(T... types) {
    return {((std::uint32_t{1} << static_cast<int>(types)) | ... | 0U)};
  }
  TW_HD constexpr bool has(mma_type t) const { return ((bits >> static_cast<int>(t)) & 1U) != 0; }
};

}  // namespace tw
