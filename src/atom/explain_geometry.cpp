// SPDX-License-Identifier: Apache-2.0
// explain_geometry.cpp  Where a combination breaks: which step of rows or columns crosses a block.
#include <fmt/format.h>

#include <numeric>

#include "atom/explain_parts.hpp"
#include "tilewright/atom/call.hpp"

namespace tw::detail {
namespace {

constexpr std::size_t most_columns = 98;  // of a line
constexpr std::size_t most_lines = 10;

/// n steps of d rows or columns.
struct steps {
  std::string what;  // "lane", "warp", "warpgroup", "element", "copy", "step"
  i64 n, d;
};

/// One mode of the tile and what steps along it.
struct axis {
  std::string unit;  // "row", "column"
  layout memory;     // index -> offset, merged
  std::vector<steps> moves;
};

/// Adds the part of a leaf of cells that moves along mode `which`.
void add_leaf(axis& a, copy_map const& m, int which, std::string const& what, i64 n, i64 d) {
  if (n == 1 || d == 0) return;
  i64 const below = d < m.rows ? std::min(n, ceil_div(m.rows, d)) : 1;  // inside a column
  if (which == 0 && below > 1) a.moves.push_back({what, below, d});
  if (which == 1 && n > below) a.moves.push_back({what, n / below, ceil_div(below * d, m.rows)});
}

axis axis_of(combination const& c, layout const& tile, int which) {
  axis a{which == 1 ? "column" : "row", coalesce(linear_part(mode(tile, which))), {}};
  copy_map const m = map_of(c);
  layout const thread = mode(m.cells, 0), value = mode(mode(m.cells, 1), 0),
               copies = mode(mode(m.cells, 1), 1);
  for (i64 k = 0, t = 1; k < thread.shape.n; ++k) {
    int const i = static_cast<int>(k);
    add_leaf(a, m, which,
             t >= 128  ? "warpgroup"
             : t >= 32 ? "warp"
                       : "lane",
             thread.extent(i), thread.stride[i].v);
    t *= thread.extent(i);
  }
  for (int i = 0; i < value.shape.n; ++i) {
    add_leaf(a, m, which, "element", value.extent(i), value.stride[i].v);
  }
  for (int i = 0; i < copies.shape.n; ++i) {
    add_leaf(a, m, which, "copy", copies.extent(i), copies.stride[i].v);
  }
  i64 const whole = which == 1 ? c.columns : c.rows, step = which == 1 ? m.columns : m.rows;
  if (whole > step) a.moves.push_back({"step", whole / step, step});
  return a;
}

std::optional<rejection> refusal_of(layout const& a, layout const& b) {
  try {
    composition(a, b);
  } catch (rejected const& r) {
    return r.why();
  }
  return {};
}

/// The block of memory that steps n:d do not fill or do not keep to.
i64 broken_block(layout const& memory, steps const& s) {
  i64 block = 1;
  for (int k = 0; k < memory.shape.n; ++k) {
    block *= memory.extent(k);
    if (s.d % block != 0 && (block % s.d != 0 || s.n * s.d > block)) return block;
  }
  return block;
}

/// "|   0   |   1   |": pieces of `length`, `scale` characters for `unit`, numbered modulo `names`.
std::string ruler(i64 whole, i64 length, i64 unit, i64 scale, i64 names) {
  std::string line = "|";
  for (i64 i = 0; i < whole / length; ++i) {
    line += fmt::format("{:^{}}|", i % names, length / unit * scale - 1);
  }
  return line;
}

/// Blocks of memory above the warpgroups' columns.
void draw(std::vector<std::string>& lines, combination const& c, i64 block) {
  i64 const unit = std::gcd(block, i64{c.mma_n});
  i64 const scale = std::min<i64>(8, 80 / (c.columns / unit));
  if (scale < 2 || c.columns % block != 0 || c.columns % c.mma_n != 0) return;
  if (std::min(block, i64{c.mma_n}) / unit * scale < 4) return;
  std::string numbers = "0";
  for (i64 x = block; x <= c.columns; x += block) {
    numbers += fmt::format("{:>{}}", x, x / unit * scale + 1 - static_cast<i64>(numbers.size()));
  }
  lines.push_back("column     " + numbers);
  lines.push_back("block      " + ruler(c.columns, block, unit, scale, c.columns));
  lines.push_back("warpgroup  " + ruler(c.columns, c.mma_n, unit, scale, c.groups_n));
}

std::string sentence(axis const& a, steps const& s, i64 block) {
  if (s.d % block != 0 && (s.what == "warpgroup" || s.what == "step")) {
    return fmt::format("{} 1 starts at {} {}, which is {} blocks of {}", s.what, a.unit, s.d,
                       ratio(s.d, block), block);
  }
  return fmt::format("{} {}s, one every {} {}s, cover {}, which is {} blocks of {}", s.n,
                     s.what == "copy" ? "copie" : s.what, s.d, a.unit, s.n * s.d,
                     ratio(s.n * s.d, block), block);
}

void add_refusal(std::vector<std::string>& lines, layout const& a, layout const& b,
                 rejection const& why) {
  add_wrapped(lines, fmt::format("composition({}, {}) is refused:", to_string(a), to_string(b)),
              "    ");
  add_wrapped(lines,
              fmt::format("    {}: {}: got {}, need {}", why.code, why.what, why.got, why.need),
              "        ");
}

/// The fault along one mode; false if it has none.
bool tell_axis(std::vector<std::string>& lines, combination const& c, axis const& a) {
  layout all;
  for (steps const& s : a.moves) append(all, s.n, num{s.d});
  std::optional<rejection> const whole = refusal_of(a.memory, close_piece(all));
  if (!whole) return false;
  std::vector<std::pair<steps, rejection>> broken;
  for (steps const& s : a.moves) {
    if (auto const why = refusal_of(a.memory, layout(s.n, s.d))) broken.emplace_back(s, *why);
  }
  if (broken.empty()) {  // each step fits, their sums do not
    add_wrapped(lines, fmt::format("each step along {}s keeps to the blocks of {}, their sums do "
                                   "not,",
                                   a.unit, a.memory.extent(0)));
    lines.emplace_back("so its addresses are not a shape:stride layout");
    add_refusal(lines, a.memory, close_piece(all), *whole);
    return true;
  }
  auto const& [first, why] = broken.front();
  i64 const block = broken_block(a.memory, first);
  if (a.unit == "column" && !c.by_turns) draw(lines, c, block);
  lines.push_back(sentence(a, first, block) + ",");
  lines.emplace_back("so its addresses are not a shape:stride layout");
  for (std::size_t i = 1; i < broken.size() && i < 3; ++i) {
    steps const& s = broken[i].first;
    lines.push_back("also, " + sentence(a, s, broken_block(a.memory, s)));
  }
  add_refusal(lines, a.memory, layout(first.n, first.d), why);
  return true;
}

}  // namespace

std::string ratio(i64 a, i64 b) {
  return fmt::format("{:.3g}", static_cast<double>(a) / static_cast<double>(b));
}

void add_wrapped(std::vector<std::string>& lines, std::string text, std::string_view indent) {
  while (text.size() > most_columns) {
    std::size_t const at = text.rfind(' ', most_columns);
    if (at == std::string::npos || at <= indent.size()) break;
    lines.push_back(text.substr(0, at));
    text = std::string(indent) + text.substr(at + 1);
  }
  lines.push_back(std::move(text));
}

std::vector<std::string> geometry_of(combination const& c, decision const& d) {
  std::vector<std::string> lines;
  if (d.tile.shape.n > 0) add_wrapped(lines, "memory     " + to_string(d.tile), "           ");
  if (only_partition_missing(d)) {
    if (!tell_axis(lines, c, axis_of(c, d.tile, 1))) tell_axis(lines, c, axis_of(c, d.tile, 0));
  } else {
    add_wrapped(lines, to_string(*d.why));
  }
  if (lines.size() > most_lines) lines.resize(most_lines);
  return lines;
}

}  // namespace tw::detail
