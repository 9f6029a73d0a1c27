// SPDX-License-Identifier: Apache-2.0
// json_output.hpp  Output of --json: records, one per line, always valid UTF-8.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tilewright/base/check.hpp"

namespace tw {

/// One line on stdout that begins with {"schema": "tilewright.VERB/1", ...}: docs/json.md has the
/// fields. Bytes of file names that are no UTF-8 are replaced; what is not finite is null.
void print_json(char const* schema, nlohmann::ordered_json const& record);

/// {"error": {code, what, got, need, hint}}, of schema tilewright.error/1.
nlohmann::ordered_json json_error(rejection const& r);

}  // namespace tw
