// SPDX-License-Identifier: Apache-2.0
// picture.hpp  A picture as data: panels of cells with text, colour and owners; writers draw it.
//
// Code that makes a picture (layout_picture.hpp, tv_picture.hpp, ...) uses layouts and no drawing;
// code that writes one (write_text.hpp, write_svg.hpp, ...) uses drawing and no layouts.
//
//     panel              rows x columns cells, row-major; at a place in a grid of panels
//     cell               text, a colour class, who owns it (thread, value), what hovering adds
//     blocks             lines stand at each multiple of these numbers of rows or columns
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tilewright/layout/num.hpp"

namespace tw {

/// Colour classes 0 .. 7, and three that are no class.
inline constexpr int colours = 8;
inline constexpr int blank = -1;    // nothing is here
inline constexpr int pale = -2;     // something that the picture is not about
inline constexpr int warning = -3;  // what is wrong, or outside

/// Value `value` of thread `thread` is this cell. In a picture of a divide a "thread" is a tile, in
/// one of a descriptor a field: picture::owner_name says what.
struct cell_owner {
  i64 thread = 0;
  i64 value = 0;

  bool operator==(cell_owner const&) const = default;
};

struct cell {
  std::string text;  // lines are separated by '\n'
  std::string hint;  // one line: what hovering shows
  int colour = blank;
  std::vector<cell_owner> owners;

  bool operator==(cell const&) const = default;
};

struct panel {
  std::string title;
  std::string caption;  // below
  std::string row_name, column_name;
  i64 rows = 0, columns = 0;
  std::vector<cell> cells;
  std::vector<std::string> row_labels, column_labels;  // empty: 0, 1, 2, ...
  std::vector<i64> row_blocks, column_blocks;          // rising
  int place_row = 0, place_column = 0;

  cell& at(i64 r, i64 c) { return cells[static_cast<std::size_t>(r * columns + c)]; }
  cell const& at(i64 r, i64 c) const { return cells[static_cast<std::size_t>(r * columns + c)]; }
  std::string row_label(i64 r) const {
    return row_labels.empty() ? std::to_string(r) : row_labels[static_cast<std::size_t>(r)];
  }
  std::string column_label(i64 c) const {
    return column_labels.empty() ? std::to_string(c) : column_labels[static_cast<std::size_t>(c)];
  }
};

struct legend_entry {
  int colour = blank;
  std::string text;
};

struct picture {
  std::string title;
  std::vector<std::string> captions;  // below the title
  std::vector<panel> panels;
  std::vector<legend_entry> legend;
  std::string owner_name;  // "thread"; empty: cells have no owners
  bool aligned = false;    // cells of all panels have one size, as in the picture of a product
};

/// Cells of all panels.
i64 cell_count(picture const& p);

/// The most cells of a picture.
inline constexpr i64 max_cells = i64{1} << 17;

/// Refuses n cells where n > max_cells [TW0122].
void check_cells(i64 n);

/// An empty panel of rows x columns cells; more than max_cells are refused [TW0122].
panel make_panel(std::string title, i64 rows, i64 columns);

/// "offset mod 8 = 0", ..., "... = 7": one entry per class.
std::vector<legend_entry> class_legend(std::string const& what);

}  // namespace tw
