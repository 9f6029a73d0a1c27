// SPDX-License-Identifier: Apache-2.0
// tmem_picture.cpp  A cell for each coordinate of the layout of a name.
#include "tools/picture/tmem_picture.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tilewright/atom/tmem_fragment.hpp"

namespace tw {
namespace {

constexpr int tmem_lanes_of_warp = 32;

/// A place of a layout whose elements have 32 / per_column bits.
struct tmem_place {
  int lane, column, part;
};
tmem_place place_of(i64 offset, int per_column) {
  i64 const address = offset / per_column;
  return {static_cast<int>(address / tmem_lane), static_cast<int>(address % tmem_lane),
          static_cast<int>(offset % per_column)};
}

panel empty_tmem(int columns, int per_column) {
  panel p = make_panel("tensor memory", tmem_lanes, i64{columns} * per_column);
  p.row_name = "lane";
  p.column_name = per_column == 1 ? "column" : per_column == 4 ? "column.byte" : "column.part";
  p.row_blocks = {tmem_lanes_of_warp};
  if (per_column > 1) p.column_blocks = {per_column};
  if (columns * per_column > 64) p.column_blocks.push_back(32);  // whose corners are labelled
  for (int c = 0; c < columns && per_column > 1; ++c)
    for (int i = 0; i < per_column; ++i) p.column_labels.push_back(fmt::format("{}.{}", c, i));
  for (int lane = 0; lane < tmem_lanes; ++lane)
    for (int c = 0; c < columns * per_column; ++c)
      p.at(lane, c).hint = fmt::format("lane {}, column {}: not used", lane, c / per_column);
  return p;
}

/// Writes a text into the cell of a place, and a hint that names the warp.
void put_cell(panel& p, tmem_place at, int per_column, std::string text, std::string const& hint) {
  cell& k = p.at(at.lane, i64{at.column} * per_column + at.part);
  int const warp = at.lane / tmem_lanes_of_warp, bits = 32 / per_column;
  std::string const part =
      per_column == 1 ? "" : fmt::format(", bits {}-{}", bits * at.part, bits * (at.part + 1) - 1);
  k.text = std::move(text);
  k.hint = fmt::format("lane {}, column {}{}, reached by warp {}: {}", at.lane, at.column, part,
                       warp, hint);
  k.colour = warp;
}

std::vector<legend_entry> warp_legend() {
  std::vector<legend_entry> all;
  for (int warp = 0; warp < 4; ++warp)
    all.push_back({warp, fmt::format("warp {}: lanes {} to {}", warp, 32 * warp, 32 * warp + 31)});
  return all;
}

void draw_load(tmem_name const& n, layout const& where, picture& p) {
  panel& q = p.panels[0];
  for (int t = 0; t < tmem_lanes; ++t)
    for (int r = 0; r < tmem_registers(n.shape, n.count); ++r) {
      tmem_place const at = place_of(where(i64{t} + i64{tmem_lanes} * r), 1);
      int const thread = t % tmem_lanes_of_warp;
      put_cell(q, at, 1, fmt::format("T{}\nR{}", thread, r),
               fmt::format("register {} of thread {} of the warp", r, thread));
      q.at(at.lane, at.column).owners.push_back({t, r});
    }
  p.captions.emplace_back(
      "tcgen05.ld or tcgen05.st of four warps: T thread of its warp, R register");
  if (has_half_lanes(n.shape))
    p.captions.emplace_back("another instruction, which begins at lane 16, has the other lanes");
}

void draw_accumulator(tmem_name const& n, layout const& where, picture& p) {
  for (int j = 0; j < n.n; ++j)
    for (int i = 0; i < n.rows(); ++i)
      put_cell(p.panels[0], place_of(where(i64{i} + i64{n.rows()} * j), 1), 1,
               fmt::format("{},{}", i, j), fmt::format("D({}, {})", i, j));
  p.captions.push_back(
      fmt::format("D of a tcgen05.mma{} with M = {}, N = {}: row, column of float32 (float16 is in "
                  "the low half of a column)",
                  n.ws ? ".ws" : "", n.m, n.n));
  if (n.ctas == 2)
    p.captions.emplace_back("the part of one CTA of a pair: rows count from its first");
  if (n.rows() == 64 && n.ctas == 1 && !n.ws)
    p.captions.emplace_back(
        "another accumulator, which begins at lane 16, can have the other lanes");
}

std::string_view types_of_a(umma_kind k) {
  switch (k) {
    case umma_kind::f16: return "bf16 or f16, two in a column";
    case umma_kind::tf32: return "tf32, one in a column";
    case umma_kind::f8f6f4:
    case umma_kind::mxf8f6f4: return "8, 6 or 4 bits, a byte each: four in a column";
    case umma_kind::mxf4:
    case umma_kind::mxf4nvf4: return "e2m1, eight in a column";
  }
  return "";
}

void draw_operand_a(tmem_name const& n, layout const& where, picture& p) {
  int const per_column = 32 / n.bits(), k_extent = 256 / n.bits();
  auto const copies = static_cast<int>(size(mode(where, 2)));
  for (int c = 0; c < copies; ++c)
    for (int k = 0; k < k_extent; ++k)
      for (int i = 0; i < n.rows(); ++i)
        put_cell(p.panels[0],
                 place_of(where(i64{i} + i64{n.rows()} * (k + i64{k_extent} * c)), per_column),
                 per_column, fmt::format("{},{}", i, k), fmt::format("A({}, {})", i, k));
  p.captions.push_back(
      fmt::format("A of one tcgen05.mma with M = {}: row, k; {}", n.m, types_of_a(n.kind)));
  if (n.ctas == 2)
    p.captions.emplace_back("the part of one CTA of a pair: rows count from its first");
  if (copies > 1)
    p.captions.emplace_back(
        "its 64 rows are twice there, once for each half of the columns of D "
        "(as CuTe's fragment has them)");
}

void draw_scales(tmem_name const& n, layout const& where, picture& p) {
  bool const is_b = n.operand == 'B';
  int const rows = is_b ? n.n : n.rows();
  auto const padded = static_cast<int>(size(mode(where, 0)));
  auto const copies = static_cast<int>(size(mode(where, 2)));
  panel& q = p.panels[0];
  for (int c = 0; c < copies; ++c)
    for (int f = 0; f < 4; ++f)
      for (int i = 0; i < padded; ++i) {
        tmem_place const at = place_of(where(i64{i} + i64{padded} * (f + 4 * c)), 4);
        int const id = f / n.factors() * n.factors(), k = f * n.block;
        put_cell(q, at, 4, i < rows ? fmt::format("{},{}", i, k) : "",
                 i < rows ? fmt::format("factor of {} {} for k from {} to {}; instruction with id "
                                        "{}",
                                        is_b ? "column" : "row", i, k, k + n.block - 1, id)
                          : "padding to 32");
        q.at(at.lane, i64{at.column} * 4 + at.part).colour = i < rows ? f : pale;
      }
  p.legend.clear();
  for (int f = 0; f < 4; ++f)
    p.legend.push_back({f, fmt::format("k from {} to {}: id {}", f * n.block, (f + 1) * n.block - 1,
                                       f / n.factors() * n.factors())});
  p.captions.push_back(fmt::format(
      "scale factors of {}: {}, and the first k of the {} elements that the factor is for",
      n.operand, is_b ? "column of B" : "row of the CTA", n.block));
  p.captions.push_back(
      n.factors() == 4
          ? std::string("a multiply takes four factors of a row, all of a column: its id is 0")
          : fmt::format("a multiply takes {} of a row; the id in its instruction descriptor is the "
                        "first byte",
                        n.factors() == 1 ? "one factor" : "two factors"));
  p.captions.emplace_back(
      n.halves() ? "the multiply reads the factors of the first half of the columns in lanes 0 to "
                   "63, of the second in 64 to 127 (as CuTe's fragment has them)"
                 : "each group of 32 lanes has all rows: row i is in lane i % 32, column i / 32");
}

void draw_copy(tmem_name const& n, layout const& where, picture& p) {
  int const rows = tmem_copy_rows(n.copy), bytes = 16 * tmem_copy_chunks(n.copy);
  int const repeats = tmem_copy_repeats(n.copy);
  bool const unpacks = n.unpack != tmem_unpack::none;
  for (int c = 0; c < repeats; ++c)
    for (int b = 0; b < bytes; b += 4)
      for (int r = 0; r < rows; ++r)
        put_cell(p.panels[0], place_of(where(i64{r} + i64{rows} * (b + i64{bytes} * c)) / 4, 1), 1,
                 fmt::format("{},{}", r, b),
                 fmt::format("row {}, {} {} to {}{}", r, unpacks ? "elements" : "bytes", b, b + 3,
                             repeats > 1 ? fmt::format(", copy {}", c) : ""));
  p.captions.push_back(
      fmt::format("tcgen05.cp.{}: row in shared memory, first of the four {} of a "
                  "column",
                  shape_text(n), unpacks ? "elements" : "bytes"));
  if (unpacks)
    p.captions.push_back(
        fmt::format("16 bytes of a row hold 16 elements of {} bits and padding; "
                    "each becomes a byte",
                    n.unpack == tmem_unpack::b4 ? 4 : 6));
  p.captions.emplace_back(
      "a row's 16 bytes follow those of the row before, 8 rows are 128 bytes; "
      "the descriptor has the stride to the next 8" +
      std::string(tmem_copy_chunks(n.copy) == 2 ? " and to the second 16 bytes of rows" : ""));
}

}  // namespace

picture tmem_picture(tmem_name const& n) {
  layout const where = layout_of(n);
  picture p;
  p.title = n.text;
  p.owner_name = "thread";
  p.legend = warp_legend();
  // A copy is drawn word by word.
  p.panels.push_back(empty_tmem(columns_of(n), n.what == tmem_what::copy ? 1 : 32 / n.bits()));
  switch (n.what) {
    case tmem_what::load: draw_load(n, where, p); break;
    case tmem_what::accumulator: draw_accumulator(n, where, p); break;
    case tmem_what::operand_a: draw_operand_a(n, where, p); break;
    case tmem_what::scales: draw_scales(n, where, p); break;
    case tmem_what::copy: draw_copy(n, where, p); break;
  }
  p.captions.push_back(fmt::format("{}: {}", modes_of(n), print(where).text));
  return p;
}

picture in_quarters(picture whole) {
  panel const all = std::move(whole.panels.at(0));
  int const across = all.columns <= 8 ? 4 : all.columns <= 20 ? 2 : 1;
  if (across == 1) {
    whole.panels[0] = all;
    return whole;
  }
  whole.panels.clear();
  for (int warp = 0; warp < 4; ++warp) {
    int const first = warp * tmem_lanes_of_warp;
    panel p = make_panel(fmt::format("lanes {} to {}", first, first + tmem_lanes_of_warp - 1),
                         tmem_lanes_of_warp, all.columns);
    for (int lane = 0; lane < tmem_lanes_of_warp; ++lane) {
      p.row_labels.push_back(std::to_string(first + lane));
      for (i64 c = 0; c < all.columns; ++c) p.at(lane, c) = all.at(first + lane, c);
    }
    p.row_name = all.row_name;
    p.column_name = all.column_name;
    p.column_labels = all.column_labels;
    p.row_blocks = {8, 16};
    p.column_blocks = all.column_blocks;
    p.place_row = warp / across;
    p.place_column = warp % across;
    whole.panels.push_back(std::move(p));
  }
  return whole;
}

}  // namespace tw
