// SPDX-License-Identifier: Apache-2.0
// weights_desc.hpp  Prepared 4-bit weights: format and extents, and which can be prepared.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/weight_format.hpp"

namespace tw {

/// The version of the header of prepared weights. Signed nibbles came with version 2.
constexpr unsigned version_of(weight_format const& f) { return f.is_signed() ? 2 : 1; }
inline constexpr int weights_header_bytes = 256;

/// Prepared weights.
struct weights_desc {
  std::int64_t n = 0, k = 0;
  std::int64_t matrices = 1;
  weight_format format;
  int shift = 0;        // of mxfp4
  float factor = 1.0F;  // of all weights: alpha of a GEMM is multiplied by it

  /// The place of row `n` among the rows of the blocks. With a gate, 8 gate rows come before the 8
  /// up rows that they multiply: a thread of wgmma has rows that are 8 apart.
  constexpr std::int64_t place(std::int64_t n) const {
    if (format.gate == gating::none) return n;
    bool const split = format.gate == gating::split;
    std::int64_t const pair = split ? n % (this->n / 2) : n / 2,
                       up = split ? n / (this->n / 2) : n % 2;
    return pair / 8 * 16 + up * 8 + pair % 8;
  }
  constexpr std::int64_t groups() const { return format.group == 0 ? 1 : k / format.group; }
  constexpr std::int64_t row_blocks() const {
    return (n + weights_row_step - 1) / weights_row_step * (weights_row_step / weight_block);
  }
  constexpr std::int64_t k_blocks() const { return (k + format.block_k() - 1) / format.block_k(); }
  constexpr std::int64_t matrix_bytes() const {
    return row_blocks() * k_blocks() * format.block_bytes();
  }
  /// With the header.
  constexpr std::int64_t bytes() const { return weights_header_bytes + matrices * matrix_bytes(); }
  bool operator==(weights_desc const&) const = default;
};

/// Why weights of this form cannot be prepared: TW0465.
std::optional<rejection> accept(weights_desc const& w);

/// "mxfp4", "int4, bf16 scales of 128 elements, integer zero points".
std::string text_of(weight_format const& f);

}  // namespace tw
