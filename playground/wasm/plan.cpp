// SPDX-License-Identifier: Apache-2.0
// plan.cpp  The module of the page that explains and plans.
#include "playground/wasm/verbs.hpp"
#include "tools/command/run_command.hpp"
#include "tools/command/verb_commands.hpp"

namespace tw {
namespace {

void add_verbs(CLI::App& app, int& status) {
  add_plan_command(app, status);
  add_explain_command(app, status);
  add_occupancy_command(app, status);
  add_roofline_command(app, status);
}

}  // namespace

int run_words(int argc, char** argv) { return run_command(argc, argv, add_verbs); }

}  // namespace tw
