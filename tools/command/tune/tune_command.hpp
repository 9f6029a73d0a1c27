// SPDX-License-Identifier: Apache-2.0
// tune_command.hpp  `tilewright tune`: measures plans on this device and stores the fastest.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_tune_command(CLI::App& app, int& status);

}  // namespace tw
