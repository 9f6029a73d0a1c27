// SPDX-License-Identifier: Apache-2.0
// ladder_command.hpp  `tilewright ladder`: the rungs of ladder, run and checked.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_ladder_command(CLI::App& app, int& status);

}  // namespace tw
