// SPDX-License-Identifier: Apache-2.0
// frame.hpp  Where everything of a picture stands, in pixels; used by the SVG, HTML and TeX
// writers.
//
// Cells shrink until a picture fits about 1560 pixels. Where their text would become too small to
// read it is left out, only the first cell of a block keeps it, where the block has room; labels
// of rows and columns thin out; lines between blocks stay as long as they are 6 pixels apart.
#pragma once

#include <string>
#include <vector>

#include "tools/picture/picture.hpp"

namespace tw {

/// Every how many pixels lines stand, and how thick they are.
struct frame_lines {
  i64 every = 1;  // rows or columns
  double width = 1;
};

struct panel_frame {
  double x = 0, y = 0;  // of the first cell
  double cell_width = 0, cell_height = 0;
  double font = 0;   // 0: cells are too small for their texts
  i64 row_step = 1;  // every how many rows a label stands
  i64 column_step = 1;
  double label_width = 0;  // of the widest row label
  i64 block_rows = 0;      // where font == 0: texts stand at the corners of such blocks; 0: nowhere
  i64 block_columns = 0;
  std::vector<frame_lines> row_lines, column_lines;

  double width(panel const& p) const { return cell_width * static_cast<double>(p.columns); }
  double height(panel const& p) const { return cell_height * static_cast<double>(p.rows); }
};

struct picture_frame {
  double width = 0, height = 0;
  double captions_y = 0;  // baseline of the first caption
  double legend_y = 0;    // top of the legend
  std::vector<panel_frame> panels;
  std::vector<double> legend_x;
};

inline constexpr double margin = 14;
inline constexpr double title_font = 15;
inline constexpr double caption_font = 12;
inline constexpr double label_font = 10;

/// Width of a text in a monospaced font.
inline double text_width(std::size_t characters, double font) {
  return 0.61 * font * static_cast<double>(characters);
}

picture_frame frame_of(picture const& p);

/// The lines of a cell's text.
std::vector<std::string> lines_of(std::string const& text);

/// Number of characters of UTF-8 text.
std::size_t characters(std::string const& text);

}  // namespace tw
