// SPDX-License-Identifier: Apache-2.0
// number_or_file.hpp  An argument that is a number, or the address of a file of one number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tw {

/// Is the text a number and nothing else? "nan", "inf" and "1e-60" are, though no float32 scale is.
bool is_number(std::string const& text);

/// The number as float32; nothing if the text is not a number, or the number is beyond float32.
std::optional<float> number_in(std::string const& text);

/// Texts of refusals of a number.
struct number_use {
  char const* code;               // of the refusal of its value, or of several numbers
  std::string what;               // "second level of A's scales"
  std::string need;               // "one float32, or a number"
  std::string hint = {};          // where it is no such file
  std::int64_t equals = 1;        // a file may have so many numbers, if they are equal
  std::string when_unequal = {};  // the hint for others
};

/// A finite number, from the command line or from a file of any float type, which is rounded to
/// float32. Throws `rejected`: the code for another value or count, TW06xx for files.
float number_or_file(std::string const& text, number_use const& use);

/// A scale by which a matrix is divided: a number above 0, from the command line or a file of one
/// number. `what` is "scale of A". Throws `rejected` TW0452, and TW06xx for files.
float divisor_in(std::string const& text, std::string const& what);

}  // namespace tw
