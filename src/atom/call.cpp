// SPDX-License-Identifier: Apache-2.0
// call.cpp  Finds an operation by name, evaluates expressions.
#include "tilewright/atom/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "atom/operations.hpp"
#include "atom/signatures.hpp"
#include "atom/spelling.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace detail {
namespace {

operation const* find(std::string_view name) {
  for (auto const& table : every_table()) {
    auto const row = std::ranges::find(table, name, &operation::name);
    if (row != table.end()) return &*row;
  }
  return nullptr;
}

bool digit(char c) { return c >= '0' && c <= '9'; }
bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || digit(c) || c == '_';
}

/// L(c): the offset of a coordinate, or for a coordinate with _ the slice.
answer value_at(answer const& l, tree const& written) {
  // (5) is an index, and ((2,3)) the coordinate (2,3).
  tree const c = !written.is_leaf() && rank(written) == 1 ? mode(written, 0) : written;
  if (!l.function) {
    throw rejected({"TW0170", "what is evaluated at a coordinate", l.res, "a layout",
                    "such as (4,8):(8,1)(2,3)"});
  }
  layout const& f = *l.function;
  bool wild = false;
  for (int i = 0; i < c.n; ++i) wild = wild || is_any(c.leaf[i]);
  if (wild) {
    answer r = has_basis(f) ? answer_of(slice_coordinates(f, c)) : answer_of(slice(f, c));
    if (!r.origin) r.base += l.base;
    r.shown = r.text();
    return r;
  }
  // A coordinate may leave its mode: then it goes on along the mode's last stride.
  if (!c.is_leaf() && !l.is_coordinate()) {
    return {.res = std::to_string(l.base + f(c)), .function = {}, .origin = {}};
  }
  i64 const index = c.is_leaf() ? number(c.leaf[0]) : crd2idx(c, f.shape);
  return {.res = l.offset_text(index), .function = {}, .origin = {}};
}

bool is_part(std::string_view name) {
  return name == "mode" || name == "shape" || name == "stride";
}

/// shape(L), stride(L) and mode(L,i); of a tuple without strides mode(tuple,i) alone.
answer part_of(std::string_view name, answer const& l, std::string_view written, int i) {
  bool const tuple = name == "mode" && written.find(':') == std::string_view::npos &&
                     written.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (tuple)
    return answer_of(mode(parse_tree(written.data(), static_cast<int>(written.size())), i));
  if (name == "mode" && !l.function && !l.res.empty() &&
      l.res[0] == '(') {  // a tuple's mode's mode
    return answer_of(mode(parse_tree(l.res.data(), static_cast<int>(l.res.size())), i));
  }
  if (!l.function) {
    throw rejected({"TW0170", fmt::format("what {} is taken of", name), l.res, "a layout",
                    "such as mode((4,8):(8,1),1)"});
  }
  if (name == "mode") return answer_of(swizzled_as(mode(*l.function, i), *l.function));
  if (name == "shape") return answer_of(l.function->shape);
  tree strides = l.function->shape;
  for (int k = 0; k < strides.n; ++k) strides.leaf[k] = l.function->stride[k];
  return answer_of(strides);
}

/// An expression: evaluates text[from, to).
class expression {
 public:
  explicit expression(std::string_view text) : text_(text) {}

  answer value(int from, int to) const {
    from = skip(from, to);
    if (int const at = evaluated_at(from, to); at > from) {
      int const end = last(from, to) + 1;
      return value_at(value(from, at), parse_tree(text_.data(), end, at));
    }
    int const open = name_end(from, to);
    if (open == from) return answer_of(parse_layout(text_.data(), to, from));
    std::string_view const name =
        text_.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(open - from));
    int const close = last(from, to);
    if (is_part(name)) return part(name, split(open + 1, close));
    std::vector<argument> args;
    std::vector<std::string> results;  // texts of the calls among the arguments
    std::vector<std::pair<int, int>> pieces = split(open + 1, close);
    results.reserve(pieces.size());
    for (auto const& [begin, end] : pieces) {
      if (int const b = skip(begin, end); name_end(b, end) != b) {
        results.push_back(value(begin, end).res);
        args.push_back({results.back(), 0});
      } else {
        args.push_back({text_.substr(0, static_cast<std::size_t>(end)), begin});
      }
    }
    return call(name, args);
  }

 private:
  answer part(std::string_view name, std::vector<std::pair<int, int>> const& pieces) const {
    std::size_t const wanted = name == "mode" ? 2 : 1;
    if (pieces.size() != wanted) {
      throw rejected({"TW0120", fmt::format("arguments of {}", name), std::to_string(pieces.size()),
                      std::to_string(wanted),
                      "mode(layout, number), shape(layout), stride(layout)"});
    }
    auto const& [begin, end] = pieces[0];
    auto const written =
        text_.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    int i = 0;
    if (wanted == 2) {
      tree const t = parse_tree(text_.data(), pieces[1].second, pieces[1].first);
      if (!t.is_leaf()) refuse_text(pieces[1].first + 1, 1);
      i = static_cast<int>(number(t.leaf[0]));
    }
    return part_of(name, value(begin, end), written, i);
  }

  int skip(int from, int to) const {
    while (from < to && text_[static_cast<std::size_t>(from)] == ' ') ++from;
    return from;
  }

  /// Position of the '(' of the coordinate where text[from, to) is L(coordinate), else -1: a
  /// bracket that follows another one, or a layout's last number.
  int evaluated_at(int from, int to) const {
    int level = 0;
    int open = -1;
    for (int i = from; i < to; ++i) {
      char const c = text_[static_cast<std::size_t>(i)];
      if (c == '(' && level == 0) open = i;
      level += (c == '(') - (c == ')');
    }
    if (open <= from || level != 0) return -1;
    int before = open - 1;
    char const c = text_[static_cast<std::size_t>(before)];
    if (c == ')') return open;
    while (before > from && name_character(text_[static_cast<std::size_t>(before - 1)])) --before;
    char const first = text_[static_cast<std::size_t>(before)];
    return digit(c) && digit(first) ? open : -1;
  }

  /// Position of '(' after a name that begins with a letter, or `from` where there is no call.
  int name_end(int from, int to) const {
    int at = from;
    while (at < to && name_character(text_[static_cast<std::size_t>(at)])) ++at;
    bool const letter = at > from && text_[static_cast<std::size_t>(from)] >= 'a';
    return letter && at < to && text_[static_cast<std::size_t>(at)] == '(' ? at : from;
  }

  /// Position of the ')' that ends the expression.
  int last(int from, int to) const {
    int end = to;
    while (end > from && text_[static_cast<std::size_t>(end - 1)] == ' ') --end;
    if (text_[static_cast<std::size_t>(end - 1)] != ')') refuse_text(end, to);
    return end - 1;
  }

  /// Splits at the commas that are in no bracket.
  std::vector<std::pair<int, int>> split(int from, int to) const {
    std::vector<std::pair<int, int>> pieces;
    int level = 0;
    int begin = from;
    for (int i = from; i < to; ++i) {
      char const c = text_[static_cast<std::size_t>(i)];
      level += (c == '(' || c == '<') - (c == ')' || c == '>');
      if (level < 0) refuse_text(i + 1, to);
      if (c == ',' && level == 0) {
        pieces.emplace_back(begin, i);
        begin = i + 1;
      }
    }
    if (skip(begin, to) < to || !pieces.empty()) pieces.emplace_back(begin, to);
    return pieces;
  }

  std::string_view text_;
};

}  // namespace

/// A swizzle that a refusal counts as bits, base and shift in three digits, as it is written.
std::string swizzle_of_digits(std::string const& digits) {
  if (digits.size() != 3 || digits.find_first_not_of("0123456789") != std::string::npos) {
    return digits;
  }
  return fmt::format("Sw<{},{},{}>", digits[0], digits[1], digits[2]);
}

/// A refusal of a swizzle (TW0237) with the swizzles as they are written.
rejection with_swizzles(rejection r) {
  if (r.code != "TW0237") return r;
  r.what = "swizzle of a shared-memory layout, in bytes";
  r.got = swizzle_of_digits(r.got);
  r.need =
      fmt::format("Sw<1,4,3>, Sw<2,4,3>, Sw<3,4,3> or none (tcgen05 also Sw<2,5,2>); nearest {}",
                  swizzle_of_digits(r.need.substr(r.need.rfind(' ') + 1)));
  return r;
}

/// A refusal of text (TW0101), with the text, a mark under the place, and what is read there.
rejection with_text(rejection r, std::string const& text) {
  constexpr std::string_view place = "something else at position ";
  if (r.code != "TW0101" || !r.got.starts_with(place)) return r;
  std::size_t const at = std::stoul(r.got.substr(place.size())) - 1;
  if (at > text.size() || text.find_first_of("\n\r\t") != std::string::npos) return r;
  std::string const what = at < text.size() ? fmt::format("'{}'", text[at]) : "the end";
  std::size_t const before = text.find_last_not_of(' ', at == 0 ? 0 : at - 1);
  char const left = at == 0 || before == std::string::npos ? '\0' : text[before];
  std::string_view const wanted =
      left == '\0' ? "a layout such as (4,8):(8,1), Sw<3,3,3> o 0 o ..., or a call such "
                     "as coalesce(...)"
      : left == '(' || left == ',' ? "a number, (, $ or _"
      : left == ':' || left == '@' ? "a number"
      : left == ')'                ? "a comma, :, ) or the end"
                                   : "a comma, :, ), @ or the end";
  r.got = fmt::format("{} at position {}", what, at + 1);
  r.need = wanted;
  std::size_t end = at;
  while (end < text.size() && name_character(text[end])) ++end;
  std::vector<std::string_view> const names = operations();
  std::string_view const nearest =
      end > at + 1 ? nearest_name(std::string_view(text).substr(at, end - at), names) : "";
  // A long text is shown around the place.
  constexpr std::size_t most = 88, around = 40;
  std::size_t const first = text.size() <= most || at < around ? 0 : at - around;
  bool const cut = first + most < text.size();
  std::string const shown =
      (first > 0 ? "..." : "") + text.substr(first, most) + (cut ? "..." : "");
  std::size_t const mark = at - first + (first > 0 ? 3 : 0);
  r.hint = fmt::format("{}\n    {}\n    {}^",
                       nearest.empty() ? "docs/layouts.md has the notation"
                                       : fmt::format("did you mean {}(...)?", nearest),
                       shown, std::string(mark, ' '));
  return r;
}

}  // namespace detail

answer call(std::string_view op, std::vector<argument> const& args) {
  detail::operation const* const row = detail::find(op);
  if (row == nullptr) {
    std::vector<std::string_view> const names = operations();
    std::string_view const nearest = detail::nearest_name(op, names);
    throw rejected({"TW0119", "operation", std::string(op),
                    "one that `tilewright layout --ops` lists",
                    nearest.empty() ? "" : fmt::format("did you mean {}?", nearest)});
  }
  int const n = static_cast<int>(args.size());
  if (n < row->least || n > row->most) {
    signature const of_op = signature_of(op);
    throw rejected({"TW0120", fmt::format("arguments of {}", op), std::to_string(n),
                    row->least == row->most ? std::to_string(row->least)
                                            : fmt::format("{} to {}", row->least, row->most),
                    fmt::format("{}({}), such as {}", op, of_op.arguments, of_op.example)});
  }
  return row->apply(detail::arguments(args));
}

answer call(std::string_view op, std::vector<std::string> const& args) {
  std::vector<argument> views;
  views.reserve(args.size());
  for (std::string const& a : args) views.push_back({a, 0});
  return call(op, views);
}

answer evaluate(std::string_view written) {
  std::string const text = detail::in_our_spelling(written);
  try {
    return detail::expression(text).value(0, static_cast<int>(text.size()));
  } catch (rejected const& e) {
    throw rejected(detail::with_swizzles(detail::with_text(e.why(), text)));
  }
}

std::vector<std::string_view> operations() {
  std::vector<std::string_view> names;
  for (auto const& table : detail::every_table()) {
    for (detail::operation const& row : table) names.push_back(row.name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace tw
