// SPDX-License-Identifier: Apache-2.0
// number_in.cpp  A number of the command line, instead of tools/operand/number_or_file.cpp:
//                libc++ 13 lacks std::from_chars of floats. A page reads scales from no file.
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "tools/operand/number_or_file.hpp"

namespace tw {

// from_chars reads no leading space, no plus sign and no hexadecimal number; strtof does.
std::optional<float> number_in(std::string const& text) {
  std::size_t const digits = text.find_first_not_of('-');
  if (digits == text.npos || std::isspace(static_cast<unsigned char>(text.front())) != 0 ||
      text.front() == '+' || text.find_first_of("xX") != text.npos)
    return std::nullopt;
  char* end = nullptr;
  errno = 0;
  float const x = std::strtof(text.c_str(), &end);
  bool const in_range = errno != ERANGE;
  return in_range && end == text.c_str() + text.size() ? std::optional(x) : std::nullopt;
}

}  // namespace tw
