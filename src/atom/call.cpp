// SPDX-License-Identifier: Apache-2.0
// call.cpp  Finds an operation by name, evaluates expressions.
#include "tilewright/atom/call.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "atom/operations.hpp"
#include "atom/refused_text.hpp"
#include "atom/signatures.hpp"
#include "atom/spelling.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
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
    if (int const at = begin_of_layout(from, to); at > from) return moved_to(from, at, to);
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
    try {
      return call(name, args);
    } catch (rejected const& e) {
      if (e.why().code == "TW0101") check_results(name, args, results);
      throw;
    }
  }

 private:
  /// Refuses a call as an argument if its result is not a layout. The refusal quotes the result:
  /// positions count in the whole expression, and the result does not stand in it.
  static void check_results(std::string_view name, std::vector<argument> const& args,
                            std::vector<std::string> const& results) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      bool const of_call = std::ranges::find(results, args[i].text) != results.end();
      if (!of_call || is_tiler(args[i].text)) continue;
      throw rejected({"TW0266", fmt::format("argument {} of {}", i + 1, name),
                      std::string(args[i].text), "a layout",
                      fmt::format("`tilewright layout --help {}` has an example", name)});
    }
  }

  static bool is_tiler(std::string_view text) try {
    parse_tiler(text.data(), static_cast<int>(text.size()));
    return true;
  } catch (rejected const&) {
    return false;
  }

  /// Answers with an offset are written "72 o L" or "(0,64) o L". Returns the position after the o;
  /// `from` if the text has no offset.
  int begin_of_layout(int from, int to) const {
    int at = from, level = 0;
    for (; at < to; ++at) {
      char const c = text_[static_cast<std::size_t>(at)];
      level += (c == '(') - (c == ')');
      bool const of_coordinate = digit(c) || c == '(' || c == ')' || c == ',' || c == '-';
      if (!of_coordinate && (c != ' ' || level > 0)) break;
      if (c == ' ' && skip(at, to) < to && text_[static_cast<std::size_t>(skip(at, to))] == 'o') {
        at = skip(at, to);
        break;
      }
    }
    bool const o = at > from && at + 1 < to && level == 0 &&
                   text_[static_cast<std::size_t>(at)] == 'o' &&
                   !name_character(text_[static_cast<std::size_t>(at) + 1]);
    return o ? at + 1 : from;
  }

  /// The layout from `at` on, which begins at the number or the coordinate before it.
  answer moved_to(int from, int at, int to) const {
    answer a = value(at, to);
    tree const start = parse_tree(text_.data(), at - 1, from);
    if (!a.function || (a.is_coordinate() ? start.is_leaf() || a.origin : !start.is_leaf()))
      refuse_text(from + 1, to);
    if (a.is_coordinate())
      a.origin = start;
    else
      a.base += number(start.leaf[0]);
    a.shown = a.text();
    return a;
  }

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

/// The name of an instruction alone, in CUTLASS's spelling: SM80_16x8x16_F32F16F16F32_TN.
bool is_atom_name(std::string_view text) {
  return (text.starts_with("SM") && text.size() > 3 && digit(text[2])) ||
         text.starts_with("UniversalFMA") || text.starts_with("UniversalCopy") ||
         text.starts_with("AutoVectorizingCopy");
}

/// Its name as ours.
answer named_atom(std::string_view text) {
  answer a;
  if (text.find("FMA") == text.npos) {
    try {
      a.res = canonical_copy_name(text);
      return a;
    } catch (rejected const&) {
      a.res.clear();  // no copy: a multiply, or nothing
    }
  }
  a.res = to_string(one_mma(text));
  return a;
}

}  // namespace detail

answer call(std::string_view op, std::vector<argument> const& args) {
  detail::operation const* const row = detail::find(op);
  if (row == nullptr) {
    std::vector<std::string_view> const names = operations();
    std::string_view const nearest = detail::nearest_name(op, names);
    std::string const other = detail::instead_of(op);
    throw rejected({"TW0119", "operation", std::string(op),
                    "one that `tilewright layout --ops` lists",
                    !other.empty() ? other
                    : nearest.empty()
                        ? fmt::format("{} is a name of a program: write its layout", op)
                        : fmt::format("did you mean {}?{}", nearest, detail::if_of_program(op))});
  }
  int const n = static_cast<int>(args.size());
  if (n < row->least || n > row->most) {
    signature const of_op = signature_of(op);
    throw rejected({"TW0120", fmt::format("arguments of {}", op), std::to_string(n),
                    row->least == row->most ? std::to_string(row->least)
                                            : fmt::format("{} to {}", row->least, row->most),
                    fmt::format("{}({}), such as {}", op, of_op.arguments, of_op.example)});
  }
  detail::arguments const given(args);
  if (op == "size" && given.text(0).starts_with("tiled_mma("))
    return detail::answer_of(size(thr_layout_vmnk(parse_tiled_mma(given.text(0)))));
  if (op == "size" && given.text(0).starts_with("tiled_copy("))
    return detail::answer_of(i64{parse_tiled_copy(given.text(0)).threads()});
  return row->apply(given);
}

answer call(std::string_view op, std::vector<std::string> const& args) {
  std::vector<argument> views;
  views.reserve(args.size());
  for (std::string const& a : args) views.push_back({a, 0});
  return call(op, views);
}

answer evaluate(std::string_view written) {
  std::string const text = detail::in_our_spelling(written);
  if (detail::is_atom_name(text)) return detail::named_atom(text);
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
