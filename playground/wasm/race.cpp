// SPDX-License-Identifier: Apache-2.0
// race.cpp  The module of the page "Find the race".
#include <CLI/CLI.hpp>

#include "playground/wasm/verbs.hpp"
#include "tools/command/playground/race_verbs.hpp"
#include "tools/command/run_command.hpp"

/// Reports the share of the run that is done to the page: wasm/output.js.
extern "C" void tw_progress(double share);

namespace tw {
namespace {

void add_verbs(CLI::App& app, int& status) {
  CLI::App* const playground = app.add_subcommand("playground", "kernels in the emulator");
  playground->require_subcommand(1);
  add_race_verbs(*playground, status, tw_progress);
}

}  // namespace

int run_words(int argc, char** argv) { return run_command(argc, argv, add_verbs); }

}  // namespace tw
