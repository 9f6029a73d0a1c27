// SPDX-License-Identifier: Apache-2.0
// spelling_text.cpp  One expression out of a text that was copied from a page or a program.
#include <fmt/format.h>

#include "atom/spelling.hpp"
#include "tilewright/base/check.hpp"

namespace tw::detail {
namespace {

/// Full-width forms, U+FF01 to U+FF5E, as ASCII, the ideographic space as a blank, the ring of a
/// composition as o.
std::string in_ascii(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    auto const byte = [&](std::size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0U;
    };
    unsigned const code = (byte(0) & 0x0FU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    bool const three = byte(0) >> 4U == 0xE && byte(1) >> 6U == 2 && byte(2) >> 6U == 2;
    if (three && code >= 0xFF01 && code <= 0xFF5E) {
      out += static_cast<char>(code - 0xFF01 + '!');
      i += 3;
    } else if (three && (code == 0x3000 || code == 0x2218)) {
      out += code == 0x3000 ? ' ' : 'o';
      i += 3;
    } else {
      out += text[i++];
    }
  }
  return out;
}

/// Without comments of C++, on one line.
std::string without_comments(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::string_view const rest = text.substr(i);
    bool const line = rest.starts_with("//"), block = rest.starts_with("/*");
    if (!line && !block) {
      bool const blank = text[i] == '\n' || text[i] == '\r' || text[i] == '\t';
      out += blank ? ' ' : text[i];
      ++i;
      continue;
    }
    std::size_t const end = line ? rest.find('\n') : rest.find("*/");
    if (end == std::string_view::npos) return out;
    i += end + (line ? 1U : 2U);
    out += ' ';
  }
  return out;
}

bool opens(char c) { return c == '(' || c == '<' || c == '['; }
bool closes(char c) { return c == ')' || c == '>' || c == ']'; }

/// `using A = X;`, `auto a = X;`, `X a;`: X.
std::string assigned_value(std::string text) {
  std::size_t const end = text.find_last_not_of(" ;");
  if (end == std::string::npos) return text;
  bool const statement = text.find(';', end) != std::string::npos;
  text.resize(end + 1);
  std::size_t const angle = text.rfind('>'), name = text.find_first_not_of(' ', angle + 1);
  bool const declared = statement && angle != std::string::npos && name != std::string::npos &&
                        name > angle + 1 &&
                        text.find_first_of("(){}<=: ,", name) == std::string::npos;
  if (declared) return text.substr(0, angle + 1);
  int level = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    level += opens(text[i]) - closes(text[i]);
    if (text[i] != '=' || level != 0) continue;
    std::size_t const value = text.find_first_not_of(' ', i + 1);
    return value == std::string::npos ? "" : text.substr(value);
  }
  return text;
}

/// Refuses text after the end of a statement.
void check_one_statement(std::string const& text) {
  std::size_t const end = text.find(';');
  std::size_t const next = end == std::string::npos ? end : text.find_first_not_of(" ;", end);
  if (next == std::string::npos) return;
  throw rejected({"TW0101", "text of a layout",
                  fmt::format("'{}' at position {}", text.substr(next, 24), next + 1),
                  "one expression, and no statement after it",
                  fmt::format("write one at a time: {}", text.substr(0, end))});
}

/// A > that closes nothing, as in a template that a page shows with one too many.
void check_angles(std::string const& text) {
  int level = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    level += (text[i] == '<') - (text[i] == '>');
    if (level >= 0) continue;
    throw rejected({"TW0101", "text of a layout", fmt::format("'>' at position {}", i + 1),
                    "no more > than <", "one > is too many: remove it, or the one before it"});
  }
}

}  // namespace

std::string one_expression(std::string_view written) {
  std::string text = in_ascii(written);
  if (text.find_first_of("\n\r\t/=;") != std::string::npos) {
    text = without_comments(text);
    check_one_statement(text);
    text = assigned_value(text);
  }
  check_angles(text);
  return text;
}

}  // namespace tw::detail
