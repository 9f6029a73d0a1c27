// SPDX-License-Identifier: Apache-2.0
// escape.hpp  Text for XML, TeX and JSON in a page, and short numbers.
#pragma once

#include <string>
#include <string_view>

namespace tw {

/// Text between tags or in a quoted attribute.
std::string xml_text(std::string_view text);

/// Text of a TeX node: spaces stay, arrows and multiplication signs become formulas.
std::string tex_text(std::string_view text);

/// Appends text as a string of JSON, which may stand in a script element.
void append_json_string(std::string& out, std::string_view text);

/// JSON that may stand in a script element: no "<".
std::string harmless(std::string json);

/// At most two decimals, without trailing zeros: "3", "12.5".
std::string short_number(double v);

}  // namespace tw
