// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include "bench/bench_command.hpp"
#include "bench/tune_command.hpp"
#include "tools/banks_command.hpp"
#include "tools/check_command.hpp"
#include "tools/command_line.hpp"
#include "tools/explain_command.hpp"
#include "tools/gemm_command.hpp"
#include "tools/info_command.hpp"
#include "tools/ladder_command.hpp"
#include "tools/layout_command.hpp"
#include "tools/man_page.hpp"
#include "tools/occupancy_command.hpp"
#include "tools/plan_command.hpp"
#include "tools/profile_command.hpp"
#include "tools/quantize_command.hpp"
#include "tools/roofline_command.hpp"
#include "tools/run_command.hpp"
#include "tools/selftest_command.hpp"
#include "tools/stages_command.hpp"

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
