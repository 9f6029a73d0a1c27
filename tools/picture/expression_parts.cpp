// SPDX-License-Identifier: Apache-2.0
// expression_parts.cpp  A name, brackets, commas.
#include "tools/picture/expression_parts.hpp"

#include "tilewright/atom/call.hpp"

namespace tw {
namespace {

std::string_view trimmed(std::string_view t) {
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

/// Length of the name of a call at the beginning; 0 where the text is no call.
std::size_t name_length(std::string_view t) {
  std::size_t const n = t.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
  bool const letter = !t.empty() && t[0] >= 'a' && t[0] <= 'z';
  return letter && n != std::string_view::npos && t[n] == '(' && t.back() == ')' ? n : 0;
}

}  // namespace

expression_parts parts_of(std::string_view expression) {
  std::string_view const whole = trimmed(expression);
  std::size_t const name = name_length(whole);
  if (name == 0) return {};
  expression_parts parts{std::string(whole.substr(0, name)), {}};
  std::string_view const inside = whole.substr(name + 1, whole.size() - name - 2);
  int level = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= inside.size(); ++i) {
    char const c = i < inside.size() ? inside[i] : ',';
    level += (c == '(' || c == '<') - (c == ')' || c == '>');
    if (c != ',' || level != 0) continue;
    std::string_view const piece = trimmed(inside.substr(begin, i - begin));
    begin = i + 1;
    if (piece.empty()) continue;
    parts.args.emplace_back(name_length(piece) > 0 ? evaluate(piece).res : std::string(piece));
  }
  return parts;
}

}  // namespace tw
