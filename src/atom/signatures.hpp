// SPDX-License-Identifier: Apache-2.0
// signatures.hpp  The arguments of each operation; docs/laws.md has the laws.
// Example:  tests/layout/spelling_test.cpp
#pragma once

#include <span>
#include <string_view>

namespace tw {

struct signature {
  std::string_view operation, arguments, example;
};

std::span<signature const> signatures();
/// Null for an operation without a row.
signature const* signature_of(std::string_view operation);

}  // namespace tw
