// SPDX-License-Identifier: Apache-2.0
// block_scale_convention.hpp  Scale tensors of block-scaled operands (block_scaled.hpp), and which
//                             order a tensor has.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw {

/// Scales of this format in one of the two orders, without gaps; the matrices of a batch one after
/// another.
scale_desc make_block_scale(scaled_operand const& x, block_format format,
                            factor_order order = factor_order::swizzled);

/// The order of a tensor of scales, from its shape and strides: (outer, blocks) or (rows, blocks)
/// padded to 128 and 4, or those bytes as a vector; a batch adds a dimension in front. TW0450: it
/// is neither. TW0451: it may be both, and `named` says nothing.
std::variant<scale_desc, rejection> recognise_block_scale(
    scale_tensor const& t, scaled_operand const& x, block_format format,
    std::optional<factor_order> named = std::nullopt);

/// "linear" or "32x4x4"; nothing for other text.
std::optional<factor_order> parse_factor_order(std::string_view text);
char const* name(factor_order o);

/// "ue4m3 for 16 elements, 32x4x4, and a float32 for all".
std::string block_scale_text(scale_desc const& s, scaled_operand const& x);

}  // namespace tw
