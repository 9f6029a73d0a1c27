// SPDX-License-Identifier: Apache-2.0
// occupancy_command.hpp  `tilewright occupancy`: CTAs and warps that an SM holds, and what limits
//                        them. Needs no GPU.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_occupancy_command(CLI::App& app, int& status);

}  // namespace tw
