// SPDX-License-Identifier: Apache-2.0
// number_checks.hpp  Options that take a number above, or not below, zero; refusals without the
//                    largest number there is.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace tw {

/// "need a positive number, got 0". What is a number is for CLI11 to say, here as at the option.
inline CLI::Validator number_check(char const* need, bool (*good)(double)) {
  return CLI::Validator(
      [=](std::string& text) {
        double x = 0;
        std::int64_t whole = 0;
        bool number = CLI::detail::lexical_cast(text, x);
        if (!number && CLI::detail::lexical_cast(text, whole))
          number = true, x = static_cast<double>(whole);
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
