// SPDX-License-Identifier: Apache-2.0
// shell_word.hpp  Words of a command line as a shell reads them.
#pragma once

#include <string>

namespace tw {

/// The text in single quotes.
inline std::string single_quoted(std::string const& text) {
  std::string quoted = "'";
  for (char const c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The word, in quotes if it has characters that a shell changes.
inline std::string shell_word(std::string const& word) {
  constexpr char const* plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%";
  bool const is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
  return is_plain ? word : single_quoted(word);
}

}  // namespace tw
