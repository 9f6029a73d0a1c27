// SPDX-License-Identifier: Apache-2.0
// tv_picture.cpp  Owners first, then what the cells say about them.
#include "tools/picture/tv_picture.hpp"

#include <fmt/format.h>

#include "tilewright/atom/call.hpp"
#include "tools/io/refuse.hpp"
#include "tools/picture/blocks.hpp"

namespace tw {
namespace {

constexpr std::size_t most_named = 8;

void need_thread_and_value(layout const& tv) {
  if (rank(tv) == 2 && tv.shape.n > 0) return;
  refuse("TW0172", "modes of the thread-value layout",
         fmt::format("{} in {}", rank(tv), to_string(tv)), "2: (thread, value)");
}

/// The index into the tile, inside it.
i64 index_in(layout const& tv, i64 thread, i64 value, i64 cells) {
  i64 const at = tv(static_cast<i64>(thread + value * size(mode(tv, 0))));
  if (at < 0 || at >= cells) {
    refuse("TW0173", "tile",
           fmt::format("{} cells, while T{} V{} is cell {}", cells, thread, value, at),
           "a tile that holds every index of the thread-value layout");
  }
  return at;
}

std::string coordinate(layout const& tile, i64 index) {
  tree c;
  if (tile.shape.is_leaf()) return std::to_string(index);
  for (int i = 0; i < rank(tile); ++i) {
    i64 const n = size(mode(tile, i));
    detail::append(c, tree(i + 1 == rank(tile) ? index : index % n));
    index /= n;
  }
  detail::wrap(c);
  return to_string(c);
}

}  // namespace

void put_owner(cell& k, cell_owner o) { k.owners.push_back(o); }

void name_owners(panel& p) {
  for (cell& k : p.cells) {
    if (k.owners.empty()) continue;
    k.colour = static_cast<int>(k.owners[0].thread % colours);
    k.text = fmt::format("T{}\nV{}", k.owners[0].thread, k.owners[0].value);
    if (k.owners.size() > 1) k.text += fmt::format("\n+{}", k.owners.size() - 1);
    k.hint += ":";
    for (std::size_t i = 0; i < k.owners.size() && i < most_named; ++i) {
      k.hint += fmt::format(" T{} V{}{}", k.owners[i].thread, k.owners[i].value,
                            i + 1 < k.owners.size() ? "," : "");
    }
    if (k.owners.size() > most_named)
      k.hint += fmt::format(" and {} more", k.owners.size() - most_named);
  }
}

panel tile_panel(layout const& tv, layout const& tile, tile_view const& view) {
  need_thread_and_value(tv);
  i64 const rows = size(mode(tile, 0));
  i64 const columns = size(tile) / rows;
  panel p = view.transposed ? make_panel(view.title, columns, rows)
                            : make_panel(view.title, rows, columns);
  check_cells(size(tv));
  auto const where = [&](i64 index) -> cell& {
    return view.transposed ? p.at(index / rows, index % rows) : p.at(index % rows, index / rows);
  };
  for (i64 v = 0; v < size(mode(tv, 1)); ++v) {
    for (i64 t = 0; t < size(mode(tv, 0)); ++t) {
      put_owner(where(index_in(tv, t, v, size(tile))), {t, v});
    }
  }
  bool const offsets = tile != make_layout_left(tile.shape) && !has_basis(tile);
  for (i64 i = 0; i < size(tile); ++i) {
    where(i).hint = coordinate(tile, i);
    if (offsets) where(i).hint += fmt::format(" at offset {}", tile(i));
  }
  name_owners(p);
  p.row_name = view.row_name;
  p.column_name = view.column_name;
  tree rest;
  for (int i = 1; i < rank(tile); ++i) detail::append(rest, mode(tile.shape, i));
  p.row_blocks = blocks_of(mode(tile.shape, 0));
  p.column_blocks = blocks_of(rest);
  if (view.transposed) std::swap(p.row_blocks, p.column_blocks);
  return p;
}

panel thread_panel(layout const& tv, layout const& tile, std::string title) {
  need_thread_and_value(tv);
  i64 const threads = size(mode(tv, 0));
  panel p = make_panel(std::move(title), threads, size(mode(tv, 1)));
  for (i64 t = 0; t < threads; ++t) {
    for (i64 v = 0; v < p.columns; ++v) {
      cell& k = p.at(t, v);
      k.text = coordinate(tile, index_in(tv, t, v, size(tile)));
      k.hint = fmt::format("T{} V{} → {}", t, v, k.text);
      k.colour = static_cast<int>(t % colours);
      k.owners.push_back({t, v});
    }
    p.row_labels.push_back(fmt::format("T{}", t));
  }
  for (i64 v = 0; v < p.columns; ++v) p.column_labels.push_back(fmt::format("V{}", v));
  p.row_blocks = blocks_of(mode(tv.shape, 0));
  p.column_blocks = blocks_of(mode(tv.shape, 1));
  return p;
}

picture tv_picture(layout const& tv, layout const& tile, std::string title) {
  picture p;
  p.title = std::move(title);
  p.owner_name = "thread";
  p.legend = class_legend("thread mod 8");
  p.panels.push_back(
      tile_panel(tv, tile, {"the tile " + to_string(tile.shape), "mode 0", "mode 1"}));
  p.panels.push_back(thread_panel(tv, tile, "the threads: coordinates in the tile"));
  p.panels[1].place_column = 1;
  return p;
}

}  // namespace tw
