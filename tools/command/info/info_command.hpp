// SPDX-License-Identifier: Apache-2.0
// info_command.hpp  tilewright info: the version, the build and the GPU, or why no GPU can be used.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_info_command(CLI::App& app, int& status);

}  // namespace tw
