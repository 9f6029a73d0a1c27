// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include "tools/command/banks/banks_command.hpp"
#include "tools/command/bench/bench_command.hpp"
#include "tools/command/check/check_command.hpp"
#include "tools/command/command_line.hpp"
#include "tools/command/explain/explain_command.hpp"
#include "tools/command/gemm/gemm_command.hpp"
#include "tools/command/info/info_command.hpp"
#include "tools/command/ladder/ladder_command.hpp"
#include "tools/command/layout/layout_command.hpp"
#include "tools/command/man_page.hpp"
#include "tools/command/occupancy/occupancy_command.hpp"
#include "tools/command/plan/plan_command.hpp"
#include "tools/command/profile/profile_command.hpp"
#include "tools/command/quantize/quantize_command.hpp"
#include "tools/command/roofline/roofline_command.hpp"
#include "tools/command/run_command.hpp"
#include "tools/command/selftest/selftest_command.hpp"
#include "tools/command/stages/stages_command.hpp"
#include "tools/command/tune/tune_command.hpp"

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
  tw::add_selftest_command(app, status);
  tw::add_tune_command(app, status);
  tw::add_occupancy_command(app, status);
  tw::add_roofline_command(app, status);
  tw::add_profile_command(app, status);
  tw::add_stages_command(app, status);
  tw::add_help_verb(app, status);
  tw::add_documentation_verbs(app, status);
}

}  // namespace

int main(int argc, char** argv) { return tw::run_command(argc, argv, add_verbs); }
