// SPDX-License-Identifier: Apache-2.0
// call.cpp  Finds an operation by name, evaluates expressions.
#include "tilewright/atom/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "atom/operations.hpp"
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
