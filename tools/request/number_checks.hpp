// SPDX-License-Identifier: Apache-2.0
// number_checks.hpp  Options that take a number above, or not below, zero; refusals without the
//                    largest number there is.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <string>

namespace tw {

/// "need a positive number, got 0". What is a number is for CLI11 to say, here as at the option.
inline CLI::Validator number_check(char const* need, bool (*good)(double)) {
  return CLI::Validator(
      [=](std::string& text) {
        if (text.empty()) return std::string("the value is empty");
        double x = 0;
        std::int64_t whole = 0;
        bool number = CLI::detail::lexical_cast(text, x);
        if (!number && CLI::detail::lexical_cast(text, whole))
          number = true, x = static_cast<double>(whole);
        return number && good(x) ? std::string() : std::string("need ") + need + ", got " + text;
      },
      "");
}
/// A number that float32 can hold: not rounded to 0, not beyond its range. What is infinite or NaN
/// as it stands is for others to judge.
inline CLI::Validator in_float_range() {
  return CLI::Validator(
      [](std::string& text) {
        double x = 0;
        if (!CLI::detail::lexical_cast(text, x)) return std::string();  // the option says it
        bool const infinite =
            std::isinf(x) && text.find_first_of("0123456789") == std::string::npos;
        auto const y = static_cast<float>(x);
        bool const lost = (x != 0 && y == 0) || (std::isinf(y) && !infinite);
        return lost ? "need a number that float32 can hold, 0 or 1.4e-45 to 3.4e38, got " + text
                    : std::string();
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
