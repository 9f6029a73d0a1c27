// SPDX-License-Identifier: Apache-2.0
// call.hpp  The algebra by name and text: the command line, the tests and other languages.
//
//     call("composition", {"(4,8):(8,1)", "4:2"}).res == "(2,2):(16,1)"
//     evaluate("zipped_divide(composition((4,8):(8,1), 4:2), 2)")
//
// Needs:    a known operation [TW0119] with as many arguments as it takes [TW0120], each in the
//           notation of parse.hpp or, in an expression, a call
// Ensures:  answer::res is the printed result; answer::function, where there is one, its offsets
// Example:  tests/layout/call_test.cpp
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/layout/layout.hpp"

namespace tw {

/// The result of an operation.
struct answer {
  std::string res;                 // text; empty where the operation only has offsets
  std::optional<layout> function;  // its offsets, where it is a function
  i64 base = 0;                    // start offset of a tensor
  std::optional<tree> origin;      // start coordinate of a coordinate tensor

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

/// Applies an operation. Throws `rejected`.
answer call(std::string_view op, std::vector<argument> const& args);
answer call(std::string_view op, std::vector<std::string> const& args);

/// Evaluates an expression: a call whose arguments may be calls, or a layout. Throws `rejected`.
answer evaluate(std::string_view expression);

/// Names of all operations, sorted.
std::vector<std::string_view> operations();

}  // namespace tw
