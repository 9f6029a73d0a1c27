// SPDX-License-Identifier: Apache-2.0
// block_quantize.hpp  A matrix of bf16, f16 or f32 in MXFP8, MXFP4 or NVFP4: elements of 8 or 4
//                     bits and a factor of 8 bits for each block along K. The rules, and the
//                     function.
//
//            values  factors  block  second level
//   mxfp8    e4m3    ue8m0    32     none
//   mxfp4    e2m1    ue8m0    32     none
//   nvfp4    e2m1    ue4m3    16     float32 s for the matrix
//
// Element = value * factor (* s). Each block is treated alone, in float32:
//   amax     largest magnitude of the finite elements
//   s        nvfp4: amax of the matrix / (448 * 6), at least 2^-126; 1 without a finite element but
//            0
//   factor   mxfp8, mxfp4: the smallest power of two that is not below amax / limit, so that
//            nothing is clamped (limit: 448 or 6). With scale_rule::floor as in the OCP
//            specification: 2^floor(log2 amax) / 2^floor(log2 limit), where the last is 2^8 or
//            2^2; elements above limit * factor are clamped. nvfp4: amax / 6 / s, rounded to
//            nearest, at least 2^-9. 1 if amax is 0.
//   value    element / factor, or element / (factor * s), rounded to nearest even and clamped;
//            infinities become the largest value
//   NaN      stays NaN in mxfp8. With e2m1, which has none, the factor of its block becomes NaN.
// Sources: OCP, "Microscaling Formats (MX)", 5.2 and 6.3; PTX ISA, "Alternate Floating-Point Data
// Formats".
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

/// How a power of two is chosen as the factor of a block, by the names that torchao gives.
enum class scale_rule : std::uint8_t { rceil, floor };

/// Matrices over (outer, k): (m, k) of A, or (n, k) of B, which is B's transpose.
struct block_quantize_problem {
  std::int64_t outer = 0, k = 0;
  matrix_desc from;  // bf16, f16 or f32
  block_format format = block_format::nvfp4;
  factor_order order = factor_order::swizzled;
  /// Elements of 4 bits two to a byte, the first in the low half; otherwise a byte each.
  bool packed = true;
  /// Of nvfp4, if it is given: matrices that share one have that of the largest amax of all.
  /// Nothing: that of the matrix.
  std::optional<float> second_level = std::nullopt;
  scale_rule rule = scale_rule::rceil;  // of mxfp8 and mxfp4

  std::int64_t blocks() const {
    return (k + traits_of(format).block - 1) / traits_of(format).block;
  }
  /// Rows and blocks that the factors have room for.
  std::int64_t factor_rows() const {
    return order == factor_order::linear ? outer : round_up(outer, scale_tile_rows);
  }
  std::int64_t factor_cols() const {
    return order == factor_order::linear ? blocks() : round_up(blocks(), scale_tile_blocks);
  }
  std::int64_t factor_bytes() const { return factor_rows() * factor_cols(); }
  /// Bytes of a row of values.
  std::int64_t row_bytes() const {
    bool const halves = packs_in_pairs(traits_of(format).value) && packed;
    return halves ? (k + 1) / 2 : k;
  }
  /// Where the factor of block `block` of row `row` lies.
  std::int64_t factor_at(std::int64_t row, std::int64_t block) const {
    if (order == factor_order::linear) return row * factor_cols() + block;
    std::int64_t const tiles_along_k = factor_cols() / scale_tile_blocks;
    std::int64_t const tile = row / scale_tile_rows * tiles_along_k + block / scale_tile_blocks;
    return tile * scale_tile_bytes + offset_in_scale_tile(row, block);
  }
};

struct block_quantize_counts {
  std::int64_t nan = 0, infinite = 0;
  std::int64_t zero_blocks = 0;
  float second_level = 1.0F;  // of nvfp4: a value without it is not the element
};

/// Why the problem cannot be computed: TW0455.
std::optional<rejection> accept(block_quantize_problem const& p);

/// The largest magnitude of the finite elements; 0 without one.
float largest_magnitude(block_quantize_problem const& p, void const* from);

/// Quantises on the host. to: `outer` rows of row_bytes(); factors: factor_bytes(), of which those
/// that belong to no block become 0. Throws `rejected` TW0455.
[[nodiscard]] block_quantize_counts quantize(block_quantize_problem const& p, void const* from,
                                             void* to, void* factors);

/// The factor of a block.
TW_HD constexpr std::uint8_t block_factor(block_format f, float amax, float second_level) {
  if (f != block_format::nvfp4)
    return amax == 0.0F ? std::uint8_t{127} : to_ue8m0_up(amax / traits_of(f).limit).bits;
  if (amax == 0.0F) return 0x38;
  std::uint8_t const bits = to_ue4m3(amax / 6.0F / second_level).bits;
  return bits == 0 ? std::uint8_t{1} : bits;
}
/// The factor of a block of mxfp8 or mxfp4 by the rule of the OCP specification.
TW_HD constexpr std::uint8_t floor_factor(block_format f, float amax) {
  constexpr int bias = 127;
  int const exponent = static_cast<int>(bits_of_float(amax) >> 23);  // of a subnormal 0
  int const of_limit = f == block_format::mxfp8 ? 8 : 2;
  if (amax == 0.0F) return bias;
  return static_cast<std::uint8_t>(exponent > of_limit ? exponent - of_limit : 0);
}
/// The second level of a matrix with this amax.
TW_HD constexpr float second_level_of(block_format f, float amax) {
  if (f != block_format::nvfp4 || amax == 0.0F) return 1.0F;
  float const s = amax / (448.0F * 6.0F);
  constexpr float smallest = 0x1p-126F;
  return s < smallest ? smallest : s;
}

}  // namespace tw
