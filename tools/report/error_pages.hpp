// SPDX-License-Identifier: Apache-2.0
// error_pages.hpp  The pages of docs/errors, built into the command by gen/error_pages.py.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tw {

struct error_page {
  std::string_view code, text;
};

/// Sorted by code.
std::vector<error_page> const& error_pages();

/// The page of a code in letters of any case. Throws `rejected` TW0617, with the hint.
error_page error_page_of(std::string code, char const* hint);

}  // namespace tw
