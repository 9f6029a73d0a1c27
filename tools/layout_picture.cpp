// SPDX-License-Identifier: Apache-2.0
// layout_picture.cpp  Draws the grid twice: with characters and with rectangles.
#include "tools/layout_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

struct rgb {
  int r, g, b;
};
constexpr std::array<rgb, 8> palette{{{174, 199, 232},
                                      {255, 187, 120},
                                      {152, 223, 138},
                                      {255, 152, 150},
                                      {197, 176, 213},
                                      {219, 219, 141},
                                      {158, 218, 229},
                                      {247, 182, 210}}};

/// The cells of a layout in two dimensions.
class grid {
 public:
  explicit grid(answer const& a) : a_(a), l_(a.function.value()) {
    bool const one_row = rank(l_) < 2;
    rows_ = one_row ? 1 : size(mode(l_, 0));
    columns_ = size(l_) / rows_;
    row_block_ = one_row ? 1 : first_block(mode(l_, 0).shape);
    column_block_ = first_block(one_row ? l_.shape : mode(l_, 1).shape);
  }

  i64 rows() const { return rows_; }
  i64 columns() const { return columns_; }
  std::string text(i64 row, i64 column) const { return a_.offset_text(row + rows_ * column); }
  rgb colour(i64 row, i64 column) const {
    i64 const index = row + rows_ * column;
    i64 const place = a_.is_coordinate() ? index : l_(index) >> l_.sw.base;
    return palette[static_cast<std::size_t>(place & 7)];
  }
  bool row_line(i64 row) const { return row > 0 && row % row_block_ == 0 && row_block_ > 1; }
  bool column_line(i64 column) const {
    return column > 0 && column % column_block_ == 0 && column_block_ > 1;
  }

 private:
  /// Extent of the innermost block of a nested mode; 1 where the mode is not nested.
  static i64 first_block(tree const& shape) {
    if (shape.n < 2) return 1;
    tree inner = shape;
    while (!inner.is_leaf() && rank(inner) > 0) inner = mode(inner, 0);
    return inner.leaf[0].v;
  }

  answer const& a_;
  layout l_;
  i64 rows_ = 1, columns_ = 1, row_block_ = 1, column_block_ = 1;
};

}  // namespace

std::string table_of(answer const& a, bool coloured) {
  grid const g(a);
  constexpr i64 most = 64;
  i64 const rows = std::min(g.rows(), most);
  i64 const columns = std::min(g.columns(), most);
  std::size_t width = std::to_string(columns - 1).size();
  for (i64 r = 0; r < rows; ++r) {
    for (i64 c = 0; c < columns; ++c) width = std::max(width, g.text(r, c).size());
  }
  std::size_t const margin = std::to_string(rows - 1).size();
  std::string out(margin + 1, ' ');
  for (i64 c = 0; c < columns; ++c) {
    out += fmt::format("{}{:>{}} ", g.column_line(c) ? "  " : " ", c, width);
  }
  out += '\n';
  for (i64 r = 0; r < rows; ++r) {
    if (g.row_line(r)) {
      out += std::string(margin + 1, ' ');
      for (i64 c = 0; c < columns; ++c) {
        out += (g.column_line(c) ? "+" : "") + std::string(width + 2, '-');
      }
      out += '\n';
    }
    out += fmt::format("{:>{}} ", r, margin);
    for (i64 c = 0; c < columns; ++c) {
      if (g.column_line(c)) out += '|';
      std::string const cell = fmt::format(" {:>{}} ", g.text(r, c), width);
      rgb const k = g.colour(r, c);
      out += coloured ? fmt::format("\x1b[48;2;{};{};{}m\x1b[30m{}\x1b[0m", k.r, k.g, k.b, cell)
                      : cell;
    }
    out += '\n';
  }
  if (rows < g.rows() || columns < g.columns()) {
    out += fmt::format("(the first {} of {} rows and {} of {} columns)\n", rows, g.rows(), columns,
                       g.columns());
  }
  return out;
}

std::string svg_of(answer const& a) {
  grid const g(a);
  if (g.rows() * g.columns() > 65536) {
    refuse("TW0122", "cells of the picture", std::to_string(g.rows() * g.columns()),
           "at most 65536", "slice the layout first");
  }
  std::size_t width = 1;
  for (i64 r = 0; r < g.rows(); ++r) {
    for (i64 c = 0; c < g.columns(); ++c) width = std::max(width, g.text(r, c).size());
  }
  i64 const cell_w = 10 + 7 * static_cast<i64>(width);
  constexpr i64 cell_h = 20;
  constexpr i64 left = 40;
  constexpr i64 top = 50;
  i64 const total_w = left + cell_w * g.columns() + 10;
  i64 const total_h = top + cell_h * g.rows() + 10;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"18\" font-size=\"13\" text-anchor=\"start\">{3}</text>\n",
      total_w, total_h, left, a.res);
  // "<" of a swizzle is markup in SVG.
  for (std::size_t at = out.find("Sw<"); at != std::string::npos; at = out.find("Sw<", at)) {
    out.replace(at, 3, "Sw&lt;");
  }
  for (i64 c = 0; c < g.columns(); ++c) {
    out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"gray\">{}</text>\n",
                       left + cell_w * c + cell_w / 2, top - 6, c);
  }
  for (i64 r = 0; r < g.rows(); ++r) {
    i64 const y = top + cell_h * r;
    out += fmt::format("<text x=\"{}\" y=\"{}\" fill=\"gray\">{}</text>\n", left / 2, y + 14, r);
    for (i64 c = 0; c < g.columns(); ++c) {
      i64 const x = left + cell_w * c;
      rgb const k = g.colour(r, c);
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"rgb({},{},{})\" "
          "stroke=\"white\"/><text x=\"{}\" y=\"{}\">{}</text>\n",
          x, y, cell_w, cell_h, k.r, k.g, k.b, x + cell_w / 2, y + 14, g.text(r, c));
    }
  }
  for (i64 c = 1; c < g.columns(); ++c) {
    if (!g.column_line(c)) continue;
    out += fmt::format("<path d=\"M{0} {1}V{2}\" stroke=\"black\"/>\n", left + cell_w * c, top,
                       top + cell_h * g.rows());
  }
  for (i64 r = 1; r < g.rows(); ++r) {
    if (!g.row_line(r)) continue;
    out += fmt::format("<path d=\"M{0} {1}H{2}\" stroke=\"black\"/>\n", left, top + cell_h * r,
                       left + cell_w * g.columns());
  }
  return out + "</svg>\n";
}

}  // namespace tw
