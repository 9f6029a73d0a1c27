// SPDX-License-Identifier: Apache-2.0
// environment.hpp  Where, when and from which source a measurement was made.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/device_facts.hpp"

namespace tw::bench {

/// Host name, UTC time, command line, and the commit: as given, else that of the git checkout in
/// the current directory ("+" appended when it has changes), else empty.
nlohmann::json environment_json(std::string const& commit);

nlohmann::json to_json(device_facts const& f);

/// Writes a text to a temporary file beside `path` and renames it. Throws `rejected` TW0713, which
/// names the option that gave the path.
void write_text(std::string const& path, char const* option, std::string const& text);

/// The same for an object of --json, one line per field and per element of a list.
void write_json(std::string const& path, nlohmann::json const& content);

}  // namespace tw::bench
