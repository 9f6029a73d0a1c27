// SPDX-License-Identifier: Apache-2.0
// command_line.hpp  Faults of a command line, in the words that were typed.
#pragma once

#include "tilewright/base/check.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tw {

/// TW0615 for what CLI11 found: which word is not known and what it may have been meant to be,
/// which option is missing, which value is wrong.
rejection refusal_of(CLI::App const& app, CLI::ParseError const& e);

/// An option whose value is an empty text is refused, in all verbs: CLI11 reads 0 in it where a
/// number is expected, and a path that is empty would be no output.
void refuse_empty_values(CLI::App& app);

/// `tilewright help [VERB...]`: as --help.
void add_help_verb(CLI::App& app, int& status);

}  // namespace tw
