// SPDX-License-Identifier: Apache-2.0
// number_checks.hpp  Options that take a number above, or not below, zero; refusals without the
//                    largest number there is.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>

namespace tw {

/// "need a positive number, got 0".
inline CLI::Validator number_check(char const* need, bool (*good)(double)) {
  return CLI::Validator(
      [=](std::string& text) {
        double x = 0;
        char const* const end = text.data() + text.size();
        auto const [stop, error] = std::from_chars(text.data(), end, x);
        bool const number = error == std::errc() && stop == end;
        return number && good(x) ? std::string() : std::string("need ") + need + ", got " + text;
      },
      "");
}
inline CLI::Validator above_zero() {
  return number_check("a positive number", [](double x) { return x > 0; });
}
inline CLI::Validator not_negative() {
  return number_check("a number that is not negative", [](double x) { return x >= 0; });
}

}  // namespace tw
