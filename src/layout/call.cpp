// SPDX-License-Identifier: Apache-2.0
// call.cpp  Finds an operation by name, evaluates expressions, turns results into text.
#include "layout/operations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/check.hpp"

namespace tw {
namespace detail {

/// Operations of atom/, which layout/ does not include: src/atom/mma_operations.cpp.
std::span<operation const> mma_operations();

/// Every table, those of folders to the right too.
static auto const& every_table() {
  static auto const tables = [] {
    auto const own = all_operations();
    std::array<std::span<operation const>, std::tuple_size_v<decltype(own)> + 1> all;
    std::ranges::copy(own, all.begin());
    all.back() = mma_operations();
    return all;
  }();
  return tables;
}

layout arguments::as_layout(int i) const {
  argument const& a = args_[static_cast<std::size_t>(i)];
  return parse_layout(a.text.data(), static_cast<int>(a.text.size()), a.from);
}
tree arguments::as_tree(int i) const {
  argument const& a = args_[static_cast<std::size_t>(i)];
  return parse_tree(a.text.data(), static_cast<int>(a.text.size()), a.from);
}
tiler arguments::as_tiler(int i) const {
  argument const& a = args_[static_cast<std::size_t>(i)];
  return parse_tiler(a.text.data(), static_cast<int>(a.text.size()), a.from);
}
swizzle arguments::as_swizzle(int i) const {
  argument const& a = args_[static_cast<std::size_t>(i)];
  return parse_swizzle(a.text.data(), static_cast<int>(a.text.size()), a.from);
}
i64 arguments::as_integer(int i) const {
  tree const t = as_tree(i);
  if (!t.is_leaf() || t.leaf[0].unit != unit_none) {
    refuse_text(args_[static_cast<std::size_t>(i)].from + 1, 1);
  }
  return t.leaf[0].v;
}
std::string_view arguments::text(int i) const {
  argument const& a = args_[static_cast<std::size_t>(i)];
  std::string_view t = a.text.substr(static_cast<std::size_t>(a.from));
  while (!t.empty() && t.front() == ' ') t.remove_prefix(1);
  while (!t.empty() && t.back() == ' ') t.remove_suffix(1);
  return t;
}

answer answer_of(layout const& l) { return {.res = to_string(l), .function = l, .origin = {}}; }
answer answer_of(tree const& t) { return {.res = to_string(t), .function = {}, .origin = {}}; }
answer answer_of(swizzle s) { return {.res = to_string(s), .function = {}, .origin = {}}; }
answer answer_of(i64 v) { return {.res = std::to_string(v), .function = {}, .origin = {}}; }

/// The leaf of a shape at the end of a basis path.
static int leaf_of_path(tree const& shape, std::uint32_t path) {
  leaf_range range{0, shape.n};
  tree part = shape;
  for (int k = 0; k < path_depth(path); ++k) {
    leaf_range const inner = mode_range(part, path_index(path, k));
    part = mode(part, path_index(path, k));
    range = {range.begin + inner.begin, range.begin + inner.end};
  }
  return range.begin;
}

tree moved(tree at, layout const& l, i64 index) {
  for (int i = 0; i < l.shape.n; ++i) {
    i64 const c = i + 1 == l.shape.n ? index : index % l.extent(i);
    index /= l.extent(i);
    if (is_basis(l.stride[i])) at.leaf[leaf_of_path(at, l.stride[i].unit)].v += c * l.stride[i].v;
  }
  return at;
}

namespace {

std::string text_of(printed const& p) { return {p.text, static_cast<std::size_t>(p.length)}; }

operation const* find(std::string_view name) {
  for (auto const& table : every_table()) {
    auto const row = std::ranges::find(table, name, &operation::name);
    if (row != table.end()) return &*row;
  }
  return nullptr;
}

bool name_character(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// An expression: evaluates text[from, to).
class expression {
 public:
  explicit expression(std::string_view text) : text_(text) {}

  answer value(int from, int to) const {
    from = skip(from, to);
    int const open = name_end(from, to);
    if (open == from) return answer_of(parse_layout(text_.data(), to, from));
    std::string_view const name =
        text_.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(open - from));
    int const close = last(from, to);
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
  int skip(int from, int to) const {
    while (from < to && text_[static_cast<std::size_t>(from)] == ' ') ++from;
    return from;
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
}  // namespace detail

std::string to_string(layout const& l) { return detail::text_of(print(l)); }
std::string to_string(tree const& t) { return detail::text_of(print(t)); }
std::string to_string(tiler const& t) { return detail::text_of(print(t)); }
std::string to_string(swizzle s) { return detail::text_of(print(s)); }

bool answer::is_coordinate() const {
  return origin.has_value() || (function.has_value() && has_basis(*function));
}

std::string answer::offset_text(i64 index) const {
  if (!is_coordinate()) return std::to_string(base + (*function)(index));
  if (origin) return to_string(detail::moved(*origin, *function, index));
  tree const at = coordinate_at(*function, index);
  int named = 0;
  num unit;
  for (int i = 0; i < function->shape.n; ++i) {
    if (is_basis(function->stride[i])) {
      ++named;
      unit = function->stride[i];
    }
  }
  if (named != 1) return to_string(at);
  num value{0, unit.unit};  // one path only is written as a basis element, not as a tuple
  for (int i = 0; i < at.n; ++i) value.v += at.leaf[i].v;
  return to_string(tree(value));
}

answer call(std::string_view op, std::vector<argument> const& args) {
  detail::operation const* const row = detail::find(op);
  if (row == nullptr) {
    throw rejected(
        {"TW0119", "operation", std::string(op), "one that `tilewright layout --ops` lists", ""});
  }
  int const n = static_cast<int>(args.size());
  if (n < row->least || n > row->most) {
    throw rejected({"TW0120", fmt::format("arguments of {}", op), std::to_string(n),
                    row->least == row->most ? std::to_string(row->least)
                                            : fmt::format("{} to {}", row->least, row->most),
                    ""});
  }
  return row->apply(detail::arguments(args));
}

answer call(std::string_view op, std::vector<std::string> const& args) {
  std::vector<argument> views;
  views.reserve(args.size());
  for (std::string const& a : args) views.push_back({a, 0});
  return call(op, views);
}

answer evaluate(std::string_view expression) {
  return detail::expression(expression).value(0, static_cast<int>(expression.size()));
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
