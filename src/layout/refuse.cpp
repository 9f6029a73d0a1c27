// SPDX-License-Identifier: Apache-2.0
// refuse.cpp  The words of the layout algebra's refusals, one row per rule of layout/rules.hpp.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "tilewright/base/check.hpp"
#include "tilewright/layout/rules.hpp"

namespace tw {
namespace {

struct words {
  int rule;
  std::string_view what;
  std::string_view got;   // {} is the first number
  std::string_view need;  // {} is the second number
  std::string_view hint;
};

constexpr std::array rows{
    words{101, "text of a layout", "something else at position {}",
          "the notation of docs/layouts.md", ""},
    words{102, "leaves of a layout", "{}", "at most {}", "coalesce the operands first"},
    words{103, "nesting of a tuple", "{} parentheses at one place", "1 to 15, nothing empty inside",
          ""},
    words{104, "composition, stride of B", "{}",
          "a divisor or a multiple of A's extent {}, or few enough steps to stay inside it",
          "choose a tile that divides the extent"},
    words{105, "composition, extent of B", "{}", "a multiple of {}, where A's extent ends",
          "choose a tile that divides the extent"},
    words{106, "composition, modes of B together", "a reach of {} inside one extent of A",
          "less than that extent, {}", "the sum would carry: A(B(c)) is not a layout"},
    words{107, "composition, stride of B", "{}", "strides of one sign, in different modes of A",
          ""},
    words{108, "complement, next stride", "{}", "a multiple of {}, what smaller strides cover",
          "the layout must be injective, its strides nested"},
    words{109, "stride", "{}", "an ordinary integer that is not negative", ""},
    words{110, "profile", "{} leaves or modes", "the profile of the other operand, which has {}",
          ""},
    words{111, "modes of the tiler", "{}", "at most {}, the modes of the layout", ""},
    words{112, "index of a mode", "{}", "less than {}", ""},
    words{113, "arithmetic on", "{}, {}", "a result of at most 64 bits", ""},
    words{114, "extent", "{}", "at least {}", ""},
    words{115, "swizzle", "{}", "bits, base >= 0, |shift| >= bits, sum at most 62 (bound here: {})",
          ""},
    words{116, "operand", "a swizzle of {} bits", "a layout without swizzle", ""},
    words{117, "basis strides", "{}", "paths of one coordinate: indices 0 to 14, depth 1 to 7 ({})",
          ""},
    words{118, "tile_to_shape, extent to fill", "{}", "a multiple of the block's {}", ""},
    words{124, "shape_div, extent", "{}", "a divisor or a multiple of {}", ""},
    words{125, "left_inverse, next stride", "{}", "a multiple of {}, and no offset twice", ""},
    words{126, "upcast, stride", "{}", "a divisor or a multiple of {}", ""},
    words{128, "upcast, modes together", "a reach of {}", "less than {}, one wide element", ""},
    words{127, "downcast, leaves of stride 1", "{}", "{}, so that elements are adjacent", ""},
    words{129, "run-time argument", "${} (times {})", "a number here",
          "bound() puts numbers in; offset<L>(args, ...) computes offsets in a kernel"},
    words{130, "product of run-time values", "arguments {} and {} (-1: a coordinate or an index)",
          "at most one of them", "pass the product as a separate argument"},
    words{131, "extent known at run time", "{} cells, cut or crossed before its end",
          "all of ${}, or a separate mode", "divide mode by mode"},
    words{132, "factor of a run-time value", "{}", "a multiple of {}",
          "a pitch that is a multiple of 8 is written 8$0"},
    words{133, "order of strides", "argument {}", "strides that are numbers (its factor is {})",
          ""},
    words{134, "run-time argument, index or divisor", "{}", "0 to {}", ""},
};

}  // namespace

void throw_refusal(int rule, std::int64_t got, std::int64_t need) {
  for (words const& w : rows) {
    if (w.rule != rule) continue;
    throw rejected({fmt::format("TW0{}", rule), std::string(w.what),
                    fmt::format(fmt::runtime(w.got), got, need),
                    fmt::format(fmt::runtime(w.need), need), std::string(w.hint)});
  }
  throw rejected(
      {fmt::format("TW0{}", rule), "layout", std::to_string(got), std::to_string(need), {}});
}

}  // namespace tw
