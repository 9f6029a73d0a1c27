// SPDX-License-Identifier: Apache-2.0
// roofline_command.hpp  `tilewright roofline M N K`: bytes, operations and ceilings. Needs no GPU.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_roofline_command(CLI::App& app, int& status);

}  // namespace tw
