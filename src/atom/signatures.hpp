// SPDX-License-Identifier: Apache-2.0
// signatures.hpp  Arguments, law and example of each operation, for `tilewright layout --help`.
// Ensures:  every operation of call.hpp has all three
// Example:  tests/layout/operation_help_test.cpp
#pragma once

#include <span>
#include <string_view>

namespace tw {

struct signature {
  std::string_view operation, arguments, law = {}, example = {}, meaning = {};
};

/// Law and example of an operation of the algebra, from tests/law (gen/laws.py writes the table).
struct law_text {
  std::string_view operation, meaning, law, example, answer;
};

std::span<law_text const> laws();
/// Null for an operation without a row.
law_text const* law_of(std::string_view operation);

/// The arguments of each operation.
std::span<signature const> signatures();
/// Arguments, law and example; empty for a name that is no operation.
signature signature_of(std::string_view operation);

}  // namespace tw
