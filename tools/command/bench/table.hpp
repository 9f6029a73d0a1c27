// SPDX-License-Identifier: Apache-2.0
// table.hpp  Lines of aligned cells that can be printed as soon as each is known.
#pragma once

#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

namespace tw::bench {

struct column {
  std::string title;
  int width = 0;      // cells that are longer keep their text and push the rest of the line
  bool left = false;  // names are aligned left, numbers right
};

/// One line without trailing blanks. As many cells as columns.
inline std::string table_line(std::vector<column> const& columns,
                              std::vector<std::string> const& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line += "  ";
    line += columns[i].left ? fmt::format("{:<{}}", cells[i], columns[i].width)
                            : fmt::format("{:>{}}", cells[i], columns[i].width);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

inline std::string table_head(std::vector<column> const& columns) {
  std::vector<std::string> titles, rules;
  for (auto const& c : columns) {
    titles.push_back(c.title);
    rules.emplace_back(static_cast<std::size_t>(c.width), '-');
  }
  return table_line(columns, titles) + "\n" + table_line(columns, rules);
}

/// A number with this many decimals; "-" where it was not measured.
inline std::string cell(double value, int decimals) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, decimals) : "-";
}

/// Three significant digits for times from nanoseconds to seconds.
inline std::string cell_us(double us) { return cell(us, us < 100 ? 2 : us < 1000 ? 1 : 0); }

}  // namespace tw::bench
