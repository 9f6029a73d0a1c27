// SPDX-License-Identifier: Apache-2.0
// environment.hpp  Where, when and from which source a measurement was made.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tools/measure/device_facts.hpp"

namespace tw::bench {

/// Host name, UTC time, command line, and the commit: as given, else that of the git checkout in
/// the current directory ("+" appended when it has changes), else empty.
nlohmann::json environment_json(std::string const& commit);

nlohmann::json to_json(device_facts const& f);

/// Writes a text, whole or not at all. Throws `rejected` TW0713, which names the option that gave
/// the path.
void write_text(std::string const& path, char const* option, std::string const& text);

/// write_text() of an object of --json, one line per field and per element of a list.
void write_json(std::string const& path, nlohmann::json const& content);

/// Refuses (TW0612) a path that cannot be written, and a file that exists and does not contain
/// `mark` near its begin: a name that is meant for another option costs no data. An empty path is
/// no output.
void check_own_file(std::string const& path, char const* option, std::string const& mark);
/// check_own_file() for --json: a file of another kind than those of write_json().
void check_json_file(std::string const& path);

}  // namespace tw::bench
