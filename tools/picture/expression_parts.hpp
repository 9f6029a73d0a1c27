// SPDX-License-Identifier: Apache-2.0
// expression_parts.hpp  The outermost call of an expression: its name and evaluated arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tw {

struct expression_parts {
  std::string op;                 // empty: the expression is no call
  std::vector<std::string> args;  // calls among them are evaluated
};

/// Splits at the commas that stand in no bracket. Throws what evaluating an argument throws.
expression_parts parts_of(std::string_view expression);

}  // namespace tw
