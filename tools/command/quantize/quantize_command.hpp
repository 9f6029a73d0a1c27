// SPDX-License-Identifier: Apache-2.0
// quantize_command.hpp  tilewright quantize: a wide matrix as e4m3, e5m2 or int8, and its scales.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_quantize_command(CLI::App& app, int& status);

}  // namespace tw
