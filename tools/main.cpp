// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/bench_command.hpp"
#include "bench/tune_command.hpp"
#include "src/base/log.hpp"
#include "tilewright/base/version.hpp"
#include "tools/banks_command.hpp"
#include "tools/check_command.hpp"
#include "tools/explain_command.hpp"
#include "tools/gemm_command.hpp"
#include "tools/guarded.hpp"
#include "tools/info_command.hpp"
#include "tools/layout_command.hpp"
#include "tools/plan_command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"Matrix products on tensor cores, or emulated on any CPU."};
  app.set_version_flag("--version", fmt::format("tilewright {}", tw::version_text));
  app.require_subcommand(1);
  int status = static_cast<int>(tw::guarded(false, [] {
    tw::start_logging("warn");
    return tw::exit_status::done;
  }));
  if (status != 0) return status;
  tw::add_gemm_command(app, status);
  tw::add_layout_command(app, status);
  tw::add_banks_command(app, status);
  tw::add_check_command(app, status);
  tw::add_bench_command(app, status);
  tw::add_info_command(app, status);
  tw::add_explain_command(app, status);
  tw::add_plan_command(app, status);
  tw::add_tune_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& e) {
    return app.exit(e);
  } catch (CLI::CallForAllHelp const& e) {
    return app.exit(e);
  } catch (CLI::CallForVersion const& e) {
    return app.exit(e);
  } catch (CLI::ParseError const& e) {
    tw::rejection const r{"TW0615", "command line", e.what(), "options as --help lists them", ""};
    fmt::print(stderr, "tilewright: {}\n", tw::to_string(r));
    return static_cast<int>(tw::exit_status::refused);
  }
  return status;
}
