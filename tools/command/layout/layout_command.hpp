// SPDX-License-Identifier: Apache-2.0
// layout_command.hpp  The verb `tilewright layout`: evaluates an expression of the layout algebra.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_layout_command(CLI::App& app, int& status);

}  // namespace tw
