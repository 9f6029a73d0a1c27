// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include "tools/command/command_line.hpp"
#include "tools/command/man_page.hpp"
#include "tools/command/run_command.hpp"
#include "tools/command/verb_commands.hpp"

namespace {

void add_verbs(CLI::App& app, int& status) {
  tw::add_gemm_command(app, status);
  tw::add_layout_command(app, status);
  tw::add_banks_command(app, status);
  tw::add_check_command(app, status);
  tw::add_bench_command(app, status);
  tw::add_info_command(app, status);
  tw::add_explain_command(app, status);
  tw::add_ladder_command(app, status);
  tw::add_plan_command(app, status);
  tw::add_quantize_command(app, status);
  tw::add_prepare_command(app, status);
  tw::add_selftest_command(app, status);
  tw::add_tune_command(app, status);
  tw::add_occupancy_command(app, status);
  tw::add_roofline_command(app, status);
  tw::add_profile_command(app, status);
  tw::add_playground_command(app, status);
  tw::add_stages_command(app, status);
  tw::add_help_verb(app, status);
  tw::add_documentation_verbs(app, status);
}

}  // namespace

int main(int argc, char** argv) { return tw::run_command(argc, argv, add_verbs); }
