// SPDX-License-Identifier: Apache-2.0
// plan_command.hpp  `tilewright plan M N K`: which kernel, why, and how long. Needs no GPU.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_plan_command(CLI::App& app, int& status);

}  // namespace tw
