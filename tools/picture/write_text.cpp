// SPDX-License-Identifier: Apache-2.0
// write_text.cpp  Columns of one width, lines of characters between blocks.
#include "tools/picture/write_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/picture/frame.hpp"
#include "tools/picture/palette.hpp"

namespace tw {
namespace {

constexpr i64 most_shown = 64;

/// One line: "T0/V1".
std::string flat(std::string text) {
  std::ranges::replace(text, '\n', '/');
  return text;
}

std::string right(std::string const& text, std::size_t width) {
  std::size_t const n = characters(text);
  return std::string(n < width ? width - n : 0, ' ') + text;
}

/// "\x1b[48;2;r;g;bm" of "#rrggbb".
std::string background(std::string_view hex) {
  auto const part = [&](std::size_t at) {
    return std::stoi(std::string(hex.substr(at, 2)), nullptr, 16);
  };
  return fmt::format("\x1b[48;2;{};{};{}m", part(1), part(3), part(5));
}

/// Block lines of the finest level, as they stand.
bool line_at(std::vector<i64> const& blocks, i64 i) {
  return i > 0 && !blocks.empty() && blocks[0] > 1 && i % blocks[0] == 0;
}

std::string table(panel const& p, bool coloured) {
  i64 const rows = std::min(p.rows, most_shown);
  i64 const columns = std::min(p.columns, most_shown);
  std::size_t width = 1, margin_width = 1;
  for (i64 c = 0; c < columns; ++c) width = std::max(width, characters(p.column_label(c)));
  for (i64 r = 0; r < rows; ++r) {
    margin_width = std::max(margin_width, characters(p.row_label(r)));
    for (i64 c = 0; c < columns; ++c) width = std::max(width, characters(flat(p.at(r, c).text)));
  }
  std::string out(margin_width + 1, ' ');
  for (i64 c = 0; c < columns; ++c) {
    out += (line_at(p.column_blocks, c) ? "  " : " ") + right(p.column_label(c), width) + " ";
  }
  out += '\n';
  for (i64 r = 0; r < rows; ++r) {
    if (line_at(p.row_blocks, r)) {
      out += std::string(margin_width + 1, ' ');
      for (i64 c = 0; c < columns; ++c) {
        out += (line_at(p.column_blocks, c) ? "+" : "") + std::string(width + 2, '-');
      }
      out += '\n';
    }
    out += right(p.row_label(r), margin_width) + " ";
    for (i64 c = 0; c < columns; ++c) {
      if (line_at(p.column_blocks, c)) out += '|';
      cell const& k = p.at(r, c);
      std::string const text = " " + right(flat(k.text), width) + " ";
      out += coloured && k.colour != blank
                 ? background(fill_of(light_paper, k.colour)) + "\x1b[30m" + text + "\x1b[0m"
                 : text;
    }
    out += '\n';
  }
  if (rows < p.rows || columns < p.columns) {
    out += fmt::format("(the first {} of {} rows and {} of {} columns)\n", rows, p.rows, columns,
                       p.columns);
  }
  return out;
}

}  // namespace

std::string write_text(picture const& p, bool coloured) {
  std::string out;
  for (std::string const& c : p.captions) out += c + "\n";
  for (panel const& q : p.panels) {
    if (!q.title.empty()) out += (out.empty() ? "" : "\n") + q.title + "\n";
    if (!q.row_name.empty() && !q.column_name.empty()) {
      out += fmt::format("(down: {}, right: {})\n", q.row_name, q.column_name);
    }
    out += table(q, coloured);
    if (!q.caption.empty()) out += q.caption + "\n";
  }
  return out;
}

}  // namespace tw
