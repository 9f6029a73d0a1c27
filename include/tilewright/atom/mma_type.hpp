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

/// The format of an element type: the one of its name.
TW_HD constexpr mma_type mma_type_of(elem e) {
  for (int i = 0; i < mma_type_count; ++i) {
    char const *x = name(static_cast<mma_type>(i)), *y = name(e);
    while (*x != '\0' && *x == *y) ++x, ++y;
    if (*x == *y) return static_cast<mma_type>(i);
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
