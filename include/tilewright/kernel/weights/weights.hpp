// SPDX-License-Identifier: Apache-2.0
// weights.hpp  4-bit weights in memory: in rows, as checkpoints have them, and prepared, as the
//              kernels read them; both directions.
//
// Weights W are (N, K), the B of D = A B with B = W^T. In rows:
//   nibbles  (matrices, n, k / 2) bytes, the element of the lower k in the low half
//   scales   (matrices, n, k / group)
//   zeros    the same shape; integers are bytes, floats have the type of the scales
// Prepared: a header of 256 bytes, then for each matrix its blocks (atom/weight_block.hpp).
// Preparing loses nothing but scales of another type, which it rounds (weight_rows::scale), and
// `unprepare` returns the rows. Padding, to 128 rows and 64 elements of K, is zero.
// In the order for activations of e4m3 (weight_format::fp8) a row has a float32 factor for each 128
// of K. Weights of mxfp4 are exact if the scales of a factor lie within 15 binades; else the
// smallest weights are rounded to multiples of the smallest number, and preparing counts them. The
// scale of a group of zeros is not kept.
//
// MXFP4 for 16 bits: the kernels multiply by scales up to 2^1. If a scale is larger, all exponents
// are reduced by `weights_desc::shift`; `factor` is multiplied by 2^shift. 255 is NaN and stays. In
// f16 weights with scales below 2^-23 are rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {

/// Weights in rows.
struct weight_rows {
  void const* nibbles = nullptr;
  void const* scales = nullptr;
  void const* zeros = nullptr;  // with weight_zeros::integers or floats
  elem scale = elem::ue8m0;     // type of the scales (and float zeros) here: of int4 also f32
};

/// Scales that preparing saw.
struct weight_counts {
  std::int64_t rounded = 0;     // scales and float zeros that the prepared type does not hold
  std::int64_t nan_scales = 0;  // that are NaN
  /// For e4m3: rows of 128 elements of K, those with a rounded weight, and the largest error of one
  /// as a share of the largest weight of its part.
  std::int64_t parts = 0, rounded_parts = 0;
  double largest_error = 0;
};

/// Rows to prepared weights, w.bytes() of them. `w.shift` and, for it, `w.factor` are computed and
/// written to `w` and to the header. Throws `rejected` TW0465 for a form or for scales that cannot
/// be prepared.
[[nodiscard]] weight_counts prepare_weights(weights_desc& w, weight_rows const& from, void* to);

/// Writes weights_header_bytes: for blocks that are prepared already.
void write_weights_header(weights_desc const& w, void* to);
/// The header of prepared weights. Throws `rejected` TW0466 for bytes without a header, of
/// another version, or of another size.
weights_desc read_weights_header(std::span<std::byte const> prepared);
/// By the header in this process's memory, of prepared weights of `bytes` bytes elsewhere.
weights_desc read_weights_header(std::span<std::byte const> header, std::int64_t bytes);
/// Throws `rejected` TW0466 unless a header in this process's memory is of weights that a problem
/// takes: with the extents and the format of `wanted`, and its matrices or more.
void check_weights_header(weights_desc const& wanted, void const* at);
/// Do these bytes begin as prepared weights do?
bool is_prepared(std::span<std::byte const> bytes);

/// Prepared weights to rows: nibbles, scales and zero points as they were prepared, scales in the
/// prepared type. An output may be nullptr.
struct weight_rows_out {
  void* nibbles = nullptr;
  void* scales = nullptr;
  void* zeros = nullptr;
};
void unprepare_weights(weights_desc const& w, void const* prepared, weight_rows_out const& to);

/// The weight at (n, k) of a matrix without the factor, exactly; with a float zero point rounded to
/// odd in float64. `blocks`: the bytes after the header.
double weight_at(weights_desc const& w, void const* blocks, std::int64_t matrix, std::int64_t n,
                 std::int64_t k);

/// A weight for e4m3: the number that the tensor cores multiply (of signed nibbles q 2^-8), and the
/// factor of the sum.
/// weight_at() is code times factor.
struct e4m3_weight {
  e4m3 code;
  float factor;
};
e4m3_weight e4m3_weight_at(weights_desc const& w, void const* blocks, std::int64_t matrix,
                           std::int64_t n, std::int64_t k);

/// A matrix of weights as the kernels multiply them, (n, k) of `to` (bf16 or f16) row by row: int4
/// times its scale is rounded once. Without the factor. Not of weights for e4m3.
void decode_weights(weights_desc const& w, void const* blocks, std::int64_t matrix, elem to,
                    void* out);

}  // namespace tw
