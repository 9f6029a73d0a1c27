// SPDX-License-Identifier: Apache-2.0
// verbs.hpp  The tree of verbs: names and children.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tw {

/// The verbs below `app`, in the order in which they were added.
std::vector<CLI::App const*> verbs_below(CLI::App const& app);
std::vector<std::string> names_of_verbs(CLI::App const& app);

/// "tilewright bench gemm".
std::string full_name(CLI::App const& verb);

/// The verb that these words name, from `app` down. Throws `rejected` TW0615 with a close word.
CLI::App const& verb_of(CLI::App const& app, std::vector<std::string> const& words);

/// "--output" and "-o" of each option of a verb.
std::vector<std::string> option_names(CLI::App const& verb);

}  // namespace tw
