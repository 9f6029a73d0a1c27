// SPDX-License-Identifier: Apache-2.0
// tv_picture.hpp  Who holds what: a thread-value layout as a tile and as a table of threads.
//
//     tv     (thread, value) -> index into the tile, column-major, as atoms give it
//     tile   the shape of the tile, or a layout: then hovering also shows the offset
//
// Colours: the thread modulo 8. A cell that several threads hold shows the first and how many more.
// Needs:   two modes [TW0172], a tile that holds every index [TW0173]
#pragma once

#include <functional>
#include <string>

#include "tilewright/layout/layout.hpp"
#include "tools/picture/picture.hpp"

namespace tw {

/// How a tile is drawn.
struct tile_view {
  std::string title;
  std::string row_name, column_name;
  bool transposed = false;  // mode 0 of the tile runs to the right
};

/// The tile with Tn and Vn in its cells. A tile of more than two modes: the others run to the
/// right.
panel tile_panel(layout const& tv, layout const& tile, tile_view const& view);

/// One row per thread, one column per value; cells are coordinates of the tile.
panel thread_panel(layout const& tv, layout const& tile, std::string title);

/// Both.
picture tv_picture(layout const& tv, layout const& tile, std::string title);

/// Fills a tile's panel from (thread, value) -> index pairs of any source.
void put_owner(cell& k, cell_owner o);

/// Texts and colours from the owners.
void name_owners(panel& p);

}  // namespace tw
