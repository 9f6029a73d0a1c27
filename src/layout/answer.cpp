// SPDX-License-Identifier: Apache-2.0
// answer.cpp  Arguments and results of operations, as text.
#include "tilewright/layout/answer.hpp"

#include "layout/operations.hpp"

namespace tw {
namespace detail {

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

answer answer_of(sliced const& s) {
  answer a = answer_of(s.kept);
  a.base = s.offset;
  return a;
}
answer answer_of(sliced_coordinates const& s) {
  answer a = answer_of(s.kept);
  a.origin = s.origin;
  return a;
}

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

static std::string text_of(printed const& p) {
  return {p.text, static_cast<std::size_t>(p.length)};
}

}  // namespace detail

std::string to_string(layout const& l) { return detail::text_of(print(l)); }
std::string to_string(tree const& t) { return detail::text_of(print(t)); }
std::string to_string(tiler const& t) { return detail::text_of(print(t)); }
std::string to_string(swizzle s) { return detail::text_of(print(s)); }

std::string answer::text() const {
  if (!shown.empty()) return shown;
  if (origin) return to_string(*origin) + " o " + res;
  return base == 0 || !function ? res : std::to_string(base) + " o " + res;
}

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

}  // namespace tw
