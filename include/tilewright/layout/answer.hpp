// SPDX-License-Identifier: Apache-2.0
// answer.hpp  Results of operations as text and offsets: the command line, the tests and other
//             languages. atom/call.hpp finds operations by name.
//
// Ensures:  answer::res is the printed result; answer::function, if there is one, its offsets
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tilewright/layout/layout.hpp"

namespace tw {

/// The result of an operation.
struct answer {
  std::string res;                 // text; empty where the operation only has offsets
  std::optional<layout> function;  // its offsets, where it is a function
  i64 base = 0;                    // start offset of a tensor
  std::optional<tree> origin;      // start coordinate of a coordinate tensor
  std::string shown = {};          // text for people where it says more than res

  /// The text for people: with the base of a slice or a part, "8 o (4,8):(8,1)".
  std::string text() const;

  /// Offset of an index as text: a number or a coordinate.
  std::string offset_text(i64 index) const;
  /// Offsets are coordinates, not numbers.
  bool is_coordinate() const;
};

/// One argument: a piece of a text, so that a mistake can be shown where it is.
struct argument {
  std::string_view text;  // from the beginning of the whole expression
  int from = 0;           // the argument begins here and ends at text.size()
};

std::string to_string(layout const& l);
std::string to_string(tree const& t);
std::string to_string(tiler const& t);
std::string to_string(swizzle s);

}  // namespace tw
