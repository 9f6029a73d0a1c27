// SPDX-License-Identifier: Apache-2.0
// printable.cpp  UTF-8 is checked as RFC 3629 defines it: no overlong forms, no surrogates.
#include "tools/io/printable.hpp"

#include <fmt/format.h>

namespace tw {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Bytes of the well-formed character at `i` that is no control character; 0 for any other byte.
std::size_t printable_bytes(std::string_view text, std::size_t i) {
  unsigned const first = byte_at(text, i);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  std::size_t const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t j = 1; j < length; ++j)
    if ((byte_at(text, i + j) & 0xc0) != 0x80) return 0;
  unsigned const second = byte_at(text, i + 1);
  bool const overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  bool const surrogate = first == 0xed && second > 0x9f, beyond = first == 0xf4 && second > 0x8f;
  bool const control = first == 0xc2 && second < 0xa0;  // U+0080 to U+009F
  return overlong || surrogate || beyond || control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const bytes = text[i] == '\n' ? 1 : printable_bytes(text, i);
    if (bytes == 0) {
      out += fmt::format("\\x{:02x}", byte_at(text, i++));
    } else {
      out += text.substr(i, bytes);
      i += bytes;
    }
  }
  return out;
}

}  // namespace tw
