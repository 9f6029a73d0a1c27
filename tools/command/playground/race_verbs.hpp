// SPDX-License-Identifier: Apache-2.0
// race_verbs.hpp  `tilewright playground list` and `run`.
#pragma once

namespace CLI {
class App;
}

namespace tw {

/// Adds `list` and `run` below the verb.
void add_race_verbs(CLI::App& playground, int& status);

}  // namespace tw
