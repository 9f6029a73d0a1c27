// SPDX-License-Identifier: Apache-2.0
// stages_command.hpp  `tilewright stages M N K`: how long a kernel loads, multiplies and stores.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_stages_command(CLI::App& app, int& status);

}  // namespace tw
