// SPDX-License-Identifier: Apache-2.0
// banks_command.hpp  The verb `tilewright banks`: wavefronts of a layout and an access, who
//                    collides where, and swizzles that remove it.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_banks_command(CLI::App& app, int& status);

}  // namespace tw
