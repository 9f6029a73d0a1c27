// SPDX-License-Identifier: Apache-2.0
// chart.cpp  A bar chart of the rungs as SVG.
#include "tools/command/ladder/chart.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/measure/environment.hpp"
#include "tools/picture/escape.hpp"

namespace ladder {

namespace {

constexpr int row_height = 26, name_width = 190, bar_width = 440, value_width = 90, top = 44;

}  // namespace

std::string svg_of(chart const& c) {
  double largest = 0;
  for (double const v : c.values)
    if (v > largest) largest = v;
  int const width = name_width + bar_width + value_width;
  int const height = top + row_height * static_cast<int>(c.names.size()) + 12;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n"
      "<text x=\"12\" y=\"26\" font-size=\"15\" fill=\"#222222\">{2}</text>\n",
      width, height, tw::xml_text(c.title));
  for (std::size_t i = 0; i < c.names.size(); ++i) {
    int const y = top + row_height * static_cast<int>(i);
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#222222\">{}</text>\n",
                       name_width - 10, y + 15, tw::xml_text(c.names[i]));
    double const v = c.values[i];
    if (!(v >= 0) || largest == 0) continue;
    double const bar = bar_width * v / largest;
    svg += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n"
        "<text x=\"{:.1f}\" y=\"{}\" fill=\"#222222\">{:.{}f} {}</text>\n",
        name_width, y + 2, bar, row_height - 8, c.names[i] == c.reference ? "#9a9a9a" : "#4878a8",
        name_width + bar + 6, y + 15, v, v < 10 ? 2 : 0, tw::xml_text(c.unit));
  }
  return svg + "</svg>\n";
}

void plot(std::string const& path, chart const& c) {
  tw::bench::write_text(path, "--plot", svg_of(c));
}

}  // namespace ladder
