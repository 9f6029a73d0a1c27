// SPDX-License-Identifier: Apache-2.0
// frame.cpp  Sizes of cells first, then places of panels, then lines and labels.
#include "tools/picture/frame.hpp"

#include <algorithm>
#include <cmath>

namespace tw {
namespace {

constexpr double most_width = 1560, most_height = 4000;
constexpr double full_font = 11, least_font = 6;
constexpr double scrolled = 1.6;  // how much wider than that it may become to show its texts
constexpr double gap = 34;

struct natural_size {
  double width = 0, height = 0;
};

/// The cell that shows its text in full.
natural_size natural(panel const& p) {
  std::size_t longest = 1, lines = 1;
  for (cell const& c : p.cells) {
    std::vector<std::string> const text = lines_of(c.text);
    lines = std::max(lines, text.size());
    for (std::string const& line : text) longest = std::max(longest, characters(line));
  }
  return {std::max(22.0, text_width(longest, full_font) + 8),
          12.0 * static_cast<double>(lines) + 9};
}

void shrink(panel const& p, panel_frame& f, natural_size n, double width, double height) {
  double s = std::min({1.0, width / (n.width * static_cast<double>(p.columns)),
                       height / (n.height * static_cast<double>(p.rows))});
  double const least = least_font / full_font;  // a wider picture is better than one without texts
  if (s < least && s * scrolled >= least) s = least;
  if (s * full_font >= least_font) {
    f.font = std::floor(2 * s * full_font) / 2;
    f.cell_width = std::floor(2 * s * n.width) / 2;
    f.cell_height = std::floor(2 * s * n.height) / 2;
    return;
  }
  f.font = 0;
  double const side = std::clamp(std::floor(std::min(width / static_cast<double>(p.columns),
                                                     height / 2 / static_cast<double>(p.rows))),
                                 3.0, 12.0);
  f.cell_width = f.cell_height = side;
}

int places(picture const& p, int panel::*place) {
  int n = 0;
  for (panel const& q : p.panels) n = std::max(n, q.*place + 1);
  return n;
}

/// Sizes of the cells of all panels.
void size_cells(picture const& p, std::vector<panel_frame>& frames) {
  std::vector<natural_size> sizes;
  natural_size common;
  for (panel const& q : p.panels) {
    sizes.push_back(natural(q));
    common = {std::max(common.width, sizes.back().width),
              std::max(common.height, sizes.back().height)};
  }
  int const across = places(p, &panel::place_column);
  std::vector<double> widths(static_cast<std::size_t>(across));
  panel whole;  // as wide as everything together, for pictures with cells of one size
  for (int column = 0; column < across; ++column) {
    i64 most = 0;
    for (std::size_t i = 0; i < p.panels.size(); ++i) {
      if (p.panels[i].place_column != column) continue;
      most = std::max(most, p.panels[i].columns);
      double& w = widths[static_cast<std::size_t>(column)];
      w = std::max(w, sizes[i].width * static_cast<double>(p.panels[i].columns));
    }
    whole.columns += most;
  }
  for (int row = 0; row < places(p, &panel::place_row); ++row) {
    i64 most = 0;
    for (panel const& q : p.panels) most = q.place_row == row ? std::max(most, q.rows) : most;
    whole.rows += most;
  }
  double total = 0;
  for (double const w : widths) total += w;
  for (std::size_t i = 0; i < p.panels.size(); ++i) {
    panel const& q = p.panels[i];
    if (p.aligned) {
      shrink(whole, frames[i], common, most_width, most_height);
      continue;
    }
    // All of them shrink together while their texts stay readable; else each has an equal share.
    bool const together = total * least_font / full_font <= most_width;
    double const mine = widths[static_cast<std::size_t>(q.place_column)];
    double const share = together ? mine * std::min(1.0, most_width / total)
                                  : std::max(most_width / across, most_width - (total - mine));
    shrink(q, frames[i], sizes[i], share, most_height);
  }
}

std::vector<frame_lines> lines_between(std::vector<i64> const& blocks, double cell, i64 count) {
  std::vector<frame_lines> lines;
  double width = 1;
  for (i64 const b : blocks) {
    if (b <= 1 || b >= count || static_cast<double>(b) * cell < 6) continue;
    lines.push_back({b, width});
    width = std::min(3.0, width + 0.8);
  }
  return lines;
}

/// The smallest block whose corner has room for the longest text.
void corner_texts(panel const& p, panel_frame& f) {
  std::size_t longest = 1, lines = 1;
  for (cell const& c : p.cells) {
    std::vector<std::string> const text = lines_of(c.text);
    lines = std::max(lines, text.size());
    for (std::string const& line : text) longest = std::max(longest, characters(line));
  }
  double const width = text_width(longest, 8) + 6;
  double const height = 10.0 * static_cast<double>(lines) + 2;
  auto const fitting = [](std::vector<i64> const& blocks, i64 count, double cell, double need) {
    for (i64 const b : blocks) {
      if (static_cast<double>(b) * cell >= need) return b;
    }
    return static_cast<double>(count) * cell >= need ? count : i64{0};
  };
  f.block_columns = fitting(p.column_blocks, p.columns, f.cell_width, width);
  f.block_rows = fitting(p.row_blocks, p.rows, f.cell_height, height);
  if (f.block_columns == p.columns && f.block_rows == p.rows) f.block_columns = f.block_rows = 0;
}

/// Every how many cells a label fits: a block, or a power of two.
i64 label_step(std::vector<i64> const& blocks, double cell, double need) {
  if (cell >= need) return 1;
  need *= 1.5;  // thinned labels need not be dense
  i64 power = 2;
  while (static_cast<double>(power) * cell < need) power *= 2;
  for (i64 const b : blocks) {
    if (static_cast<double>(b) * cell >= need && b <= 2 * power) return b;
  }
  return power;
}

void label(panel const& p, panel_frame& f) {
  std::size_t widest_row = 1, widest_column = 1;
  for (i64 r = 0; r < p.rows; ++r) {
    widest_row = std::max(widest_row, characters(p.row_label(r)));
  }
  for (i64 c = 0; c < p.columns; ++c) {
    widest_column = std::max(widest_column, characters(p.column_label(c)));
  }
  f.label_width = text_width(widest_row, label_font);
  f.row_step = label_step(p.row_blocks, f.cell_height, label_font);
  f.column_step =
      label_step(p.column_blocks, f.cell_width, text_width(widest_column, label_font) + 3);
  f.row_lines = lines_between(p.row_blocks, f.cell_height, p.rows);
  f.column_lines = lines_between(p.column_blocks, f.cell_width, p.columns);
  if (f.font == 0) corner_texts(p, f);
}

double line_height(double font) { return std::ceil(1.45 * font); }

/// Space that a panel needs around its cells.
struct surroundings {
  double left = 0, right = 0, above = 0, below = 0;
};

surroundings around(panel const& p, panel_frame const& f) {
  surroundings s;
  s.left = f.label_width + 8 + (p.row_name.empty() ? 0 : 16);
  s.above = 16 + (p.column_name.empty() ? 0 : 14) + (p.title.empty() ? 0 : 22);
  double const widest = std::max(text_width(characters(p.title), 13),
                                 text_width(characters(p.caption), caption_font));
  s.right = std::max(0.0, widest - f.width(p));
  s.below = p.caption.empty() ? 4 : 4 + line_height(caption_font);
  return s;
}

}  // namespace

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines(1);
  for (char const c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

std::size_t characters(std::string const& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

picture_frame frame_of(picture const& p) {
  picture_frame f;
  f.panels.resize(p.panels.size());
  size_cells(p, f.panels);
  std::vector<surroundings> sides;
  for (std::size_t i = 0; i < p.panels.size(); ++i) {
    label(p.panels[i], f.panels[i]);
    sides.push_back(around(p.panels[i], f.panels[i]));
  }
  double widest = text_width(characters(p.title), title_font);
  for (std::string const& c : p.captions) {
    widest = std::max(widest, text_width(characters(c), caption_font));
  }
  double y = margin + (p.title.empty() ? 0 : line_height(title_font));
  f.captions_y = y + caption_font;
  y += static_cast<double>(p.captions.size()) * line_height(caption_font);
  f.legend_y = y + 6;
  double x = margin;
  for (legend_entry const& e : p.legend) {
    double const w = 22 + text_width(characters(e.text), label_font) + 10;
    f.legend_x.push_back(x);
    x += w;
  }
  widest = std::max(widest, x - margin);
  if (!p.legend.empty()) y += 26;
  y += 6;
  for (int row = 0; row < places(p, &panel::place_row); ++row) {
    double above = 0, below = 0;
    for (std::size_t i = 0; i < p.panels.size(); ++i) {
      if (p.panels[i].place_row != row) continue;
      above = std::max(above, sides[i].above);
      below = std::max(below, f.panels[i].height(p.panels[i]) + sides[i].below);
    }
    for (std::size_t i = 0; i < p.panels.size(); ++i) {
      if (p.panels[i].place_row == row) f.panels[i].y = y + above;
    }
    y += above + below + 14;
  }
  x = margin;
  for (int column = 0; column < places(p, &panel::place_column); ++column) {
    double left = 0, right = 0;
    for (std::size_t i = 0; i < p.panels.size(); ++i) {
      if (p.panels[i].place_column != column) continue;
      left = std::max(left, sides[i].left);
      right = std::max(right, f.panels[i].width(p.panels[i]) + sides[i].right);
    }
    for (std::size_t i = 0; i < p.panels.size(); ++i) {
      if (p.panels[i].place_column == column) f.panels[i].x = x + left;
    }
    x += left + right + gap;
  }
  f.width = std::ceil(std::max(x - gap, margin + widest) + margin);
  f.height = std::ceil(y);
  return f;
}

}  // namespace tw
