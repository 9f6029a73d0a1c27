// SPDX-License-Identifier: Apache-2.0
// layout_json.hpp  Answers of the layout algebra as JSON: one, or one per line of questions.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"

namespace tw {

/// {"res", "n", "offs"} with up to 256 offsets, above that "offs_crc32": the CRC-32 of the offsets
/// joined by commas, coordinates in quotes. Above 2^22 cells the offsets are left out.
nlohmann::ordered_json to_json(answer const& a);

/// Reads {"id", "op", "args"} per line, writes {"id", "res", ...} or {"id", "error": {code, text}}
/// per line. {"id", "op", "name", ...} is a question about an atom (atom_json.hpp). A line that is
/// no such object is answered with TW0121.
void answer_lines(std::istream& questions, std::ostream& answers);

}  // namespace tw
