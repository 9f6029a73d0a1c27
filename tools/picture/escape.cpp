// SPDX-License-Identifier: Apache-2.0
// escape.cpp  Characters that mean something to XML, TeX or JSON.
#include "tools/picture/escape.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/report/json_output.hpp"

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
  // Hundredths; fmt::format takes ten times as long, and rounds numbers between two of them.
  double const scaled = v * 100, whole = std::nearbyint(scaled);
  if (std::abs(scaled) < 1e15 && std::abs(scaled - whole) < 0.499) {
    std::array<char, 24> digits{};
    auto const n = static_cast<long long>(whole);
    long long const size = n < 0 ? -n : n;
    char* end = digits.data();
    if (n < 0) *end++ = '-';
    end = std::to_chars(end, digits.data() + digits.size(), size / 100).ptr;
    if (size % 100 != 0) {
      *end++ = '.';
      *end++ = static_cast<char>('0' + size / 10 % 10);
      if (size % 10 != 0) *end++ = static_cast<char>('0' + size % 10);
    }
    return {digits.data(), end};
  }
  std::string s = fmt::format("{:.2f}", v);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s == "-0" ? "0" : s;
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view arrow = "→";
  std::size_t const begin = out.size();
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<') {
      out += c;
    } else if (text.substr(i, arrow.size()) == arrow) {
      out += arrow;
      i += arrow.size() - 1;
    } else {
      out.resize(begin);
      out += harmless(json_text(std::string(text)));
      return;
    }
  }
  out += '"';
}

std::string harmless(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace tw
