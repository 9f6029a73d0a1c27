// SPDX-License-Identifier: Apache-2.0
// roofline_report.hpp  A roofline as text, JSON and SVG.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/command/roofline/roofline.hpp"

namespace tw {

std::string roofline_text(roofline const& r);
nlohmann::ordered_json roofline_json(roofline const& r);

/// A complete SVG document: rate over arithmetic intensity, both logarithmic.
std::string roofline_svg(roofline const& r);

}  // namespace tw
