// SPDX-License-Identifier: Apache-2.0
// in_quotes.hpp  Bytes of a file or of the command line as text of a message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tw {

/// "text" with \xNN for what is not printable ASCII, and \" and \\. The bytes may be anything: {:?}
/// of fmt 9 stops the program at UTF-8 that breaks off.
inline std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  return out + '"';
}

/// The text as it is where it is printable ASCII, else in quotes.
inline std::string in_quotes_if_odd(std::string_view text) {
  for (char const c : text)
    if (c < 0x20 || c >= 0x7f) return in_quotes(text);
  return std::string(text);
}

}  // namespace tw
