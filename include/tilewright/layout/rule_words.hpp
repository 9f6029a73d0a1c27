// SPDX-License-Identifier: Apache-2.0
// rule_words.hpp  The text of the layout algebra's refusals, one row per rule of rules.hpp.
// Example:  composition((4,8):(8,1), 6:1) at run time is refused with the row of TW0105
#pragma once

#include "tilewright/base/refusal.hpp"

namespace tw::detail {

inline constexpr refusal_words layout_rule_words[] = {
    refusal_words{101, "text of a layout", "something else at position {}",
                  "the notation of docs/layouts.md", ""},
    refusal_words{102, "leaves of a layout", "{}", "at most {}", "coalesce the operands first"},
    refusal_words{103, "nesting of a tuple", "{} parentheses at one place",
                  "1 to 15, nothing empty inside", ""},
    refusal_words{104, "composition, stride of B", "{}",
                  "a divisor or a multiple of A's extent {}, or few enough steps to stay inside it",
                  "choose a tile that divides the extent"},
    refusal_words{105, "composition, extent of B", "{}", "a multiple of {}, where A's extent ends",
                  "choose a tile that divides the extent"},
    refusal_words{106, "composition, modes of B together", "a reach of {} inside one extent of A",
                  "less than that extent, {}", "the sum would carry: A(B(c)) is not a layout"},
    refusal_words{107, "composition, stride of B", "{}",
                  "strides of one sign, in different modes of A", ""},
    refusal_words{108, "complement, next stride", "{}",
                  "a multiple of {}, what smaller strides cover",
                  "the layout must be injective, its strides nested"},
    refusal_words{109, "stride", "{}", "an ordinary integer that is not negative", ""},
    refusal_words{110, "profile", "{} leaves or modes",
                  "the profile of the other operand, which has {}", ""},
    refusal_words{111, "modes of the tiler", "{}", "at most {}, the modes of the layout", ""},
    refusal_words{112, "index of a mode", "{}", "less than {}", ""},
    refusal_words{113, "arithmetic on", "{}, {}", "a result of at most 64 bits", ""},
    refusal_words{114, "extent", "{}", "at least {}", ""},
    refusal_words{115, "swizzle", "{}",
                  "bits, base >= 0, |shift| >= bits, sum at most 62 (bound here: {})", ""},
    refusal_words{116, "operand", "a swizzle of {} bits", "a layout without swizzle", ""},
    refusal_words{117, "basis strides", "{}",
                  "paths of one coordinate: indices 0 to 14, depth 1 to 7 ({})", ""},
    refusal_words{118, "tile_to_shape, extent to fill", "{}", "a multiple of the block's {}", ""},
    refusal_words{124, "shape_div, extent", "{}", "a divisor or a multiple of {}", ""},
    refusal_words{125, "left_inverse, next stride", "{}", "a multiple of {}, and no offset twice",
                  ""},
    refusal_words{126, "upcast, stride", "{}", "a divisor or a multiple of {}", ""},
    refusal_words{128, "upcast, modes together", "a reach of {}", "less than {}, one wide element",
                  ""},
    refusal_words{127, "downcast, leaves of stride 1", "{}", "{}, so that elements are adjacent",
                  ""},
    refusal_words{129, "run-time argument", "${} (times {})", "a number here",
                  "bound() puts numbers in; offset<L>(args, ...) computes offsets in a kernel"},
    refusal_words{130, "product of run-time values",
                  "arguments {} and {} (-1: a coordinate or an index)", "at most one of them",
                  "pass the product as a separate argument"},
    refusal_words{131, "extent known at run time", "{} cells, cut or crossed before its end",
                  "all of ${}, or a separate mode", "divide mode by mode"},
    refusal_words{132, "factor of a run-time value", "{}", "a multiple of {}",
                  "a pitch that is a multiple of 8 is written 8$0"},
    refusal_words{133, "order of strides", "argument {}",
                  "strides that are numbers (its factor is {})", ""},
    refusal_words{134, "run-time argument, index or divisor", "{}", "0 to {}", ""},
};

}  // namespace tw::detail
