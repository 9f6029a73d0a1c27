// SPDX-License-Identifier: Apache-2.0
// tma_picture.cpp  The neighbourhood of the box in global memory, and the tile.
#include "tools/picture/tma_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/atom/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/layout_picture.hpp"

namespace tw {
namespace {

constexpr i64 border = 4;  // elements of the tensor around the box

void need_matrix(layout const& l, char const* what) {
  if (rank(l) == 2 && l.shape.n > 0 && !has_basis(l)) return;
  refuse("TW0176", what, to_string(l), "a layout of two modes, rows and columns");
}

/// The box, the tensor and the border: coordinates [begin, end) along one mode.
struct span {
  i64 begin, end;
};
span seen(i64 at, i64 box, i64 extent) {
  return {std::min(at, std::max<i64>(0, at - border)),
          std::max(at + box, std::min(extent, at + box + border))};
}

std::string listed(i64 const* v, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += (i > 0 ? "," : "") + std::to_string(v[i]);
  return text;
}

}  // namespace

picture tma_picture(layout const& gmem, layout const& smem, i64 row, i64 column, i64 bits) {
  need_matrix(gmem, "global tensor");
  need_matrix(smem, "tile in shared memory");
  i64 const m = size(mode(gmem, 0)), n = size(mode(gmem, 1));
  i64 const bm = size(mode(smem, 0)), bn = size(mode(smem, 1));
  tma_params const t = make_tma_params(gmem, smem, tile(bm, bn), bits);
  picture p;
  p.title = fmt::format("TMA: tile {} x {} at ({},{}) of {} x {}", bm, bn, row, column, m, n);
  p.owner_name = "offset";
  p.captions.push_back(fmt::format("tensor ({}), strides in bytes ({}), box ({}), basis {}",
                                   listed(t.global_dim, t.dims), listed(t.stride_bytes, t.dims),
                                   listed(t.box, t.dims), to_string(t.basis)));
  i64 const copies = bm * bn / t.box_elems();
  p.captions.push_back(fmt::format(
      "{} {} of {} bytes, {}", copies, copies == 1 ? "copy" : "copies", t.box_bytes(),
      t.swizzle == smem_swizzle::none ? std::string("no swizzle")
                                      : fmt::format("{}-byte swizzle", span_bytes(t.swizzle))));
  answer const shared{.res = to_string(smem), .function = smem, .origin = {}};
  panel tile_in_smem = flat_panel(shared, "shared memory " + shared.res);
  span const rows = seen(row, bm, m), columns = seen(column, bn, n);
  panel global = make_panel("global memory " + to_string(gmem), rows.end - rows.begin,
                            columns.end - columns.begin);
  for (i64 i = rows.begin; i < rows.end; ++i) global.row_labels.push_back(std::to_string(i));
  for (i64 j = columns.begin; j < columns.end; ++j) {
    global.column_labels.push_back(std::to_string(j));
  }
  i64 outside = 0;
  for (i64 i = rows.begin; i < rows.end; ++i) {
    for (i64 j = columns.begin; j < columns.end; ++j) {
      cell& k = global.at(i - rows.begin, j - columns.begin);
      bool const in_tensor = i >= 0 && i < m && j >= 0 && j < n;
      bool const in_box = i >= row && i < row + bm && j >= column && j < column + bn;
      if (!in_tensor && !in_box) continue;
      std::string const what =
          in_tensor ? fmt::format("({},{}) at offset {}", i, j, gmem(i, j))
                    : fmt::format("({},{}) is outside the tensor and read as zero", i, j);
      k.text = in_tensor ? std::to_string(gmem(i, j)) : "0";
      k.hint = what;
      k.colour = pale;
      if (!in_box) continue;
      cell& s = tile_in_smem.at(i - row, j - column);
      s.hint += "; from " + what;
      k.hint += "; to shared offset " + s.text;
      k.owners = s.owners;
      if (!in_tensor) {
        s.colour = warning;
        ++outside;
      }
      k.colour = s.colour;
    }
  }
  if (outside > 0) p.captions.push_back(fmt::format("{} elements are outside: zeros", outside));
  p.panels = {std::move(global), std::move(tile_in_smem)};
  bool const wide = bn > 16;
  (wide ? p.panels[1].place_row : p.panels[1].place_column) = 1;
  p.legend = class_legend(smem.sw.base == 0
                              ? std::string("shared offset mod 8")
                              : fmt::format("shared offset / {} mod 8", i64{1} << smem.sw.base));
  p.legend.push_back({warning, "outside the tensor"});
  p.legend.push_back({pale, "not in the box"});
  return p;
}

}  // namespace tw
