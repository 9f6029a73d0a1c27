// SPDX-License-Identifier: Apache-2.0
// main.cpp  The verbs of tilewright that the demo runs, and info: less to compile than all of them.
#include "tools/command/command_line.hpp"
#include "tools/command/run_command.hpp"
#include "tools/command/verb_commands.hpp"

namespace {

void add_verbs(CLI::App& app, int& status) {
  tw::add_gemm_command(app, status);
  tw::add_layout_command(app, status);
  tw::add_info_command(app, status);
  tw::add_help_verb(app, status);
}

}  // namespace

int main(int argc, char** argv) { return tw::run_command(argc, argv, add_verbs); }
