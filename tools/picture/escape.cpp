// SPDX-License-Identifier: Apache-2.0
// escape.cpp  Characters that mean something to XML or TeX.
#include "tools/picture/escape.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tw {

std::string xml_text(std::string_view text) {
  std::string out;
  for (char const c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default:
        // Other control characters are not allowed in XML 1.0 at all.
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return out;
}

std::string tex_text(std::string_view text) {
  using entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<entry, 15> meanings{{{" ", "~"},
                                                   {"\\", "\\textbackslash{}"},
                                                   {"{", "\\{"},
                                                   {"}", "\\}"},
                                                   {"$", "\\$"},
                                                   {"&", "\\&"},
                                                   {"#", "\\#"},
                                                   {"%", "\\%"},
                                                   {"_", "\\_"},
                                                   {"^", "\\textasciicircum{}"},
                                                   {"~", "\\textasciitilde{}"},
                                                   {"\n", "\\\\"},
                                                   {"→", "$\\to$"},
                                                   {"×", "$\\times$"},
                                                   {"·", "$\\cdot$"}}};
  std::string out;
  while (!text.empty()) {
    std::string_view with = text.substr(0, 1);
    std::size_t length = 1;
    for (auto const& [from, to] : meanings) {
      if (text.starts_with(from)) {
        with = to;
        length = from.size();
      }
    }
    out += with;
    text.remove_prefix(length);
  }
  return out;
}

std::string short_number(double v) {
  std::string s = fmt::format("{:.2f}", v);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

}  // namespace tw
