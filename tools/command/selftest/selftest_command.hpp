// SPDX-License-Identifier: Apache-2.0
// selftest_command.hpp  tilewright selftest: all kernels and probes of instructions, one report.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_selftest_command(CLI::App& app, int& status);

}  // namespace tw
