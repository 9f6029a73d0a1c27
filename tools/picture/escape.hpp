// SPDX-License-Identifier: Apache-2.0
// escape.hpp  Text for XML and for TeX, and short numbers.
#pragma once

#include <string>
#include <string_view>

namespace tw {

/// Text between tags or in a quoted attribute.
std::string xml_text(std::string_view text);

/// Text of a TeX node: spaces stay, arrows and multiplication signs become formulas.
std::string tex_text(std::string_view text);

/// At most two decimals, without trailing zeros: "3", "12.5".
std::string short_number(double v);

}  // namespace tw
