// SPDX-License-Identifier: Apache-2.0
// layout.cpp  The module of the layouts page.
#include "playground/wasm/verbs.hpp"
#include "tools/command/run_command.hpp"
#include "tools/command/verb_commands.hpp"

namespace tw {
namespace {

void add_verbs(CLI::App& app, int& status) {
  add_layout_command(app, status);
  add_banks_command(app, status);
}

}  // namespace

int run_words(int argc, char** argv) { return run_command(argc, argv, add_verbs); }

}  // namespace tw
