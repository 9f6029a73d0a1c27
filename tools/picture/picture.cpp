// SPDX-License-Identifier: Apache-2.0
// picture.cpp  Counting cells, and the refusal of too many.
#include "tools/picture/picture.hpp"

#include "tools/io/refuse.hpp"

namespace tw {

i64 cell_count(picture const& p) {
  i64 n = 0;
  for (panel const& q : p.panels) n += q.rows * q.columns;
  return n;
}

void check_cells(i64 n) {
  if (n <= max_cells) return;
  refuse("TW0122", "cells of the picture", std::to_string(n),
         "at most " + std::to_string(max_cells),
         "choose a part with --slice, or look at one tile of a divide");
}

panel make_panel(std::string title, i64 rows, i64 columns) {
  check_cells(rows > max_cells || columns > max_cells ? (rows > columns ? rows : columns)
                                                      : rows * columns);
  panel p;
  p.title = std::move(title);
  p.rows = rows;
  p.columns = columns;
  p.cells.resize(static_cast<std::size_t>(rows * columns));
  return p;
}

std::vector<legend_entry> class_legend(std::string const& what) {
  std::vector<legend_entry> legend;
  for (int k = 0; k < colours; ++k) {
    legend.push_back({k, (k == 0 ? what + " = " : std::string()) + std::to_string(k)});
  }
  return legend;
}

}  // namespace tw
