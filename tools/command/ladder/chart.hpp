// SPDX-License-Identifier: Apache-2.0
// chart.hpp  A bar chart of the rungs as SVG.
#pragma once

#include <string>
#include <vector>

namespace ladder {

/// A bar for each name; negative values and NaN have no bar.
struct chart {
  std::string title, unit;
  std::vector<std::string> names;
  std::vector<double> values;
  std::string reference = {};  // the name whose bar is grey: what the others are compared with
};
std::string svg_of(chart const& c);

/// Writes it to a file (TW0713 if that fails).
void plot(std::string const& path, chart const& c);

}  // namespace ladder
