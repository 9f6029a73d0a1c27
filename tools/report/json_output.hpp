// SPDX-License-Identifier: Apache-2.0
// json_output.hpp  Output of --json: records, one per line, always valid UTF-8.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tilewright/base/check.hpp"

namespace tw {

/// The text of a value: valid UTF-8 whatever its strings hold. nlohmann's dump() throws where they
/// hold anything else.
std::string json_text(nlohmann::ordered_json const& value, int indent = -1);

/// One line on stdout that begins with {"schema": "tilewright.VERB/1", ...}: docs/json.md has the
/// fields. Bytes of file names that are no UTF-8 are replaced; what is not finite is null.
void print_json(char const* schema, nlohmann::ordered_json const& record);

/// {"error": {code, what, got, need, hint}}, of schema tilewright.error/1.
nlohmann::ordered_json json_error(rejection const& r);

}  // namespace tw
