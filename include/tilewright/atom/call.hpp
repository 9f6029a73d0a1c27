// SPDX-License-Identifier: Apache-2.0
// call.hpp  The algebra, atoms and copies by name and text: the command line, the tests and other
//           languages.
//
//     call("composition", {"(4,8):(8,1)", "4:2"}).res == "(2,2):(16,1)"
//     evaluate("zipped_divide(composition((4,8):(8,1), 4:2), 2)")
//     evaluate("tv(mma.sm90.m64n96k16.f16, C)")
//
// Needs:    a known operation [TW0119] with as many arguments as it takes [TW0120], each in the
//           notation of parse.hpp or, in an expression, a call
// Example:  tests/layout/call_test.cpp
#pragma once

#include <vector>

#include "tilewright/layout/answer.hpp"

namespace tw {

/// Applies an operation. Throws `rejected`.
answer call(std::string_view op, std::vector<argument> const& args);
answer call(std::string_view op, std::vector<std::string> const& args);

/// Evaluates an expression: a call whose arguments may be calls, or a layout. Throws `rejected`.
answer evaluate(std::string_view expression);

/// Names of all operations, sorted.
std::vector<std::string_view> operations();

}  // namespace tw
