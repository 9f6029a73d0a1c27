// SPDX-License-Identifier: Apache-2.0
// race_verbs.hpp  The verbs of `tilewright playground` that the module for emulated runs has too.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tw {

/// Adds `list` and `run` below the verb. progress: called with the share of a run that is done.
void add_race_verbs(CLI::App& playground, int& status,
                    std::function<void(double)> const& progress = {});

}  // namespace tw
