// SPDX-License-Identifier: Apache-2.0
// man_page.hpp  Manual pages and shell completions, from the options declared with CLI11.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tw {

/// A page of section 1 in the man macros: tilewright(1), or of a verb tilewright-VERB(1).
std::string man_page(CLI::App const& verb);

/// A completion script for bash, zsh or fish: verbs, options, words of options, files elsewhere.
std::string completion_script(CLI::App const& app, std::string const& shell);

/// `tilewright completion SHELL` and `tilewright man [VERB...]`.
void add_documentation_verbs(CLI::App& app, int& status);

}  // namespace tw
