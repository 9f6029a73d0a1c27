// SPDX-License-Identifier: Apache-2.0
// profile_command.hpp  `tilewright profile -- COMMAND`: Nsight Compute's figures with their
// meaning.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_profile_command(CLI::App& app, int& status);

}  // namespace tw
