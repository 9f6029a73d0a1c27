// SPDX-License-Identifier: Apache-2.0
// weight_format.hpp  Formats of 4-bit weights: elements, scales and zero points.
//
//   code    nibble q              scale            for        a weight is
//   mxfp4   e2m1                  ue8m0            32 of K    q s
//   nvfp4   e2m1                  ue4m3            16 of K    q s, times a float32 of the matrix
//   int4    unsigned, 0 to 15     bf16 or f16      a group    (q - 8) s, (q - z) s or (q - 8) s + z
//
// Activations of e4m3 need another order, with a float32 factor f for each row and 128 of K:
//
//   mxfp4   e2m1                  2^u, u -8 to 6   32 of K    q 2^u f
//   int4    unsigned, 0 to 15     none             128 of K   (q - 8) f or (q - z) f
//
// Sources: OCP, "Microscaling Formats (MX)"; PTX ISA, "Alternate Floating-Point Data Formats";
// docs/weights4.md names the checkpoints that have them.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/problem/epilogue.hpp"

namespace tw {

enum class weight_code : std::uint8_t { none, mxfp4, nvfp4, int4 };
/// Zero points of int4: 8 for all, an integer for each scale, or a float that is added.
enum class weight_zeros : std::uint8_t { none, integers, floats };

/// Rows of a block of prepared weights, and its elements of K for activations of 16 bits
/// (atom/weight_block.hpp).
inline constexpr int weight_block = 64;
/// Prepared weights have a multiple of this many rows; those beyond N are zero.
inline constexpr int weights_row_step = 128;
/// The largest u of mxfp4 for e4m3, of which a byte holds u + 8.
inline constexpr int largest_relative_exponent = 6, relative_exponent_bias = 8;

struct weight_format {
  weight_code code = weight_code::none;
  elem scale = elem::f32;  // type of the scales, and of float zero points, in memory
  weight_zeros zeros = weight_zeros::none;
  int group = 0;     // elements of K that share a scale; 0: all K of a row
  bool fp8 = false;  // in the order for activations of e4m3
  /// For a GEMM with this gate: gate and up rows (columns of B) lie 8 apart (weights_desc::place).
  gating gate = gating::none;

  TW_HD constexpr explicit operator bool() const { return code != weight_code::none; }
  /// Are nibbles of prepared weights signed (signed_nibble.hpp)?
  TW_HD constexpr bool is_signed() const {
    return fp8 && code == weight_code::int4 && zeros == weight_zeros::none;
  }
  /// Elements of K of a block.
  TW_HD constexpr int block_k() const { return fp8 ? 2 * weight_block : weight_block; }
  /// Scales of a row in a block.
  TW_HD constexpr int scales_per_row() const {
    if (fp8) return code == weight_code::mxfp4 ? 4 : 0;
    return group == 16 ? 4 : group == 32 ? 2 : 1;
  }
  TW_HD constexpr int scales() const { return weight_block * scales_per_row(); }
  /// Zero points of a row in a block: one for each scale, or for the factor of the row.
  TW_HD constexpr int zeros_per_row() const {
    if (zeros == weight_zeros::none) return 0;
    return fp8 ? 1 : scales_per_row();
  }
  TW_HD constexpr int zero_bytes_each() const {
    return zeros == weight_zeros::none ? 0 : zeros == weight_zeros::integers ? 1 : 2;
  }
  /// A block in memory: nibbles, scales, zero points, factors.
  TW_HD constexpr int nibble_bytes() const { return weight_block * block_k() / 2; }
  TW_HD constexpr int scale_bytes() const { return scales() * size_bytes(scale); }
  TW_HD constexpr int zero_bytes() const {
    return weight_block * zeros_per_row() * zero_bytes_each();
  }
  TW_HD constexpr int factor_bytes() const { return fp8 ? weight_block * 4 : 0; }
  TW_HD constexpr int block_bytes() const {
    return nibble_bytes() + scale_bytes() + zero_bytes() + factor_bytes();
  }
  bool operator==(weight_format const&) const = default;
};

constexpr char const* name(weight_code c) {
  switch (c) {
    case weight_code::none: return "none";
    case weight_code::mxfp4: return "mxfp4";
    case weight_code::nvfp4: return "nvfp4";
    case weight_code::int4: return "int4";
  }
  return "?";
}
constexpr char const* name(weight_zeros z) {
  switch (z) {
    case weight_zeros::none: return "none";
    case weight_zeros::integers: return "integers";
    case weight_zeros::floats: return "floats";
  }
  return "?";
}

}  // namespace tw
