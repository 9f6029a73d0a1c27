// SPDX-License-Identifier: Apache-2.0
// copy_expression.cpp  Copies as text: copy_atom(...), tiled_copy(...), tiled_copy_A(...).
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/tiled_copy_mma.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_expression(std::string_view what, std::string_view got,
                                    std::string_view need) {
  throw rejected({"TW0233", std::string(what), fmt::format("'{}'", got), std::string(need), ""});
}

std::string_view trimmed(std::string_view t) {
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

/// name(argument, argument, ...) in its parts; commas inside parentheses or <> do not separate.
struct call_text {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

call_text split_call(std::string_view text) {
  text = trimmed(text);
  std::size_t const open = text.find('(');
  if (open == std::string_view::npos || text.back() != ')') {
    refuse_expression("expression", text, "NAME(ARGUMENT, ...)");
  }
  call_text c{trimmed(text.substr(0, open)), {}};
  int level = 0;
  std::size_t from = open + 1;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '<') ++level;
    bool const ends = level == 0 && (text[i] == ',' || (text[i] == ')' && i + 1 == text.size()));
    if (ends) {
      c.arguments.push_back(trimmed(text.substr(from, i - from)));
      from = i + 1;
    } else if (text[i] == ')' || text[i] == '>') {
      --level;
    }
  }
  return c;
}

i64 number_of(std::string_view text) {
  i64 n = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse_expression("number", text, "an integer");
  }
  return n;
}

layout layout_of(std::string_view text) {
  return parse_layout(text.data(), static_cast<int>(text.size()));
}

}  // namespace

copy_atom parse_copy_atom(std::string_view text) {
  constexpr std::string_view form = "copy_atom(NAME, element bits)";
  if (text.find('(') == std::string_view::npos) refuse_expression("copy atom", text, form);
  call_text const c = split_call(text);
  if (c.name != "copy_atom" || c.arguments.size() != 2) {
    refuse_expression("copy atom", text, form);
  }
  return in_values(one_copy(c.arguments[0]), number_of(c.arguments[1]));
}

tiled_copy parse_tiled_copy(std::string_view text) {
  call_text const c = split_call(text);
  if (c.arguments.empty()) refuse_expression("tiled copy", text, "tiled_copy(copy_atom(...), ...)");
  copy_atom const atom = parse_copy_atom(c.arguments[0]);
  if (c.arguments.size() == 3 && c.name == "tiled_copy") {
    return make_tiled_copy(atom, layout_of(c.arguments[1]), layout_of(c.arguments[2]));
  }
  if (c.arguments.size() == 3 && c.name == "cotiled_copy") {
    return make_cotiled_copy(atom, layout_of(c.arguments[1]), layout_of(c.arguments[2]));
  }
  if (c.arguments.size() == 2 && c.name.starts_with("tiled_copy_")) {
    tiled_mma const mma = parse_tiled_mma(c.arguments[1]);
    if (c.name == "tiled_copy_A") return make_tiled_copy_a(atom, mma);
    if (c.name == "tiled_copy_B") return make_tiled_copy_b(atom, mma);
    if (c.name == "tiled_copy_C") return make_tiled_copy_c(atom, mma);
    if (c.name == "tiled_copy_C_atom") return make_tiled_copy_c_atom(atom, mma);
  }
  refuse_expression("tiled copy", text,
                    "tiled_copy(copy_atom(...), thr, val), cotiled_copy(...) or "
                    "tiled_copy_A|B|C|C_atom(copy_atom(...), tiled_mma(...))");
}

layout copy_tv(std::string_view text, std::string_view side) {
  bool const source = side == "src" || side == "S";
  bool const target = side == "dst" || side == "D";
  if (!source && !target && side != "ref") {
    refuse_expression("side of a copy", side, "src, dst or ref");
  }
  text = trimmed(text);
  if (text.starts_with("tiled_copy") || text.starts_with("cotiled_copy")) {
    tiled_copy const c = parse_tiled_copy(text);
    return source ? layout_s(c) : target ? layout_d(c) : c.tv;
  }
  copy_atom const a = text.starts_with("copy_atom") ? parse_copy_atom(text) : one_copy(text);
  return source ? a.src : target ? a.dst : a.ref;
}

}  // namespace tw
