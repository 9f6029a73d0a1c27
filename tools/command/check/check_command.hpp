// SPDX-License-Identifier: Apache-2.0
// check_command.hpp  The verb `tilewright check`: kernels, ours or a plugin's, and the mutants, in
//                    the emulator with every check on.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_check_command(CLI::App& app, int& status);

}  // namespace tw
