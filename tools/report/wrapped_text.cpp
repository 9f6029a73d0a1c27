// SPDX-License-Identifier: Apache-2.0
// wrapped_text.cpp  Lines are broken at spaces, or after a comma of a long list.
#include "tools/report/wrapped_text.hpp"

namespace tw {

std::string wrapped(std::string_view text, int columns, int indent) {
  std::string out;
  auto const width = static_cast<std::size_t>(columns);
  std::string const blank(static_cast<std::size_t>(indent), ' ');
  while (true) {
    std::size_t const newline = text.find('\n');
    std::string line(text.substr(0, newline));
    while (line.size() > width) {
      std::size_t const begin = line.find_first_not_of(' ');
      std::size_t at = line.rfind(' ', width);
      if (at == std::string::npos || at <= begin || at <= blank.size()) {
        // A word that is longer than a line, such as a list of values, is cut after a comma.
        std::size_t const comma = line.rfind(',', width - 1);
        if (comma != std::string::npos && comma > begin && comma > blank.size()) {
          out += line.substr(0, comma + 1) + "\n";
          line = blank + line.substr(comma + 1);
          continue;
        }
        at = line.find(' ', width);
      }
      if (at == std::string::npos) break;
      out += line.substr(0, line.find_last_not_of(' ', at) + 1) + "\n";
      std::size_t const next = line.find_first_not_of(' ', at);
      line = next == std::string::npos ? "" : blank + line.substr(next);
    }
    out += line;
    if (newline == std::string_view::npos) return out;
    out += "\n";
    text.remove_prefix(newline + 1);
  }
}

}  // namespace tw
