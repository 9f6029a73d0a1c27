// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "bench/bench_command.hpp"
#include "bench/tune_command.hpp"
#include "src/base/log.hpp"
#include "tilewright/base/version.hpp"
#include "tools/banks_command.hpp"
#include "tools/check_command.hpp"
#include "tools/command_line.hpp"
#include "tools/explain_command.hpp"
#include "tools/gemm_command.hpp"
#include "tools/guarded.hpp"
#include "tools/help_text.hpp"
#include "tools/info_command.hpp"
#include "tools/ladder_command.hpp"
#include "tools/layout_command.hpp"
#include "tools/man_page.hpp"
#include "tools/occupancy_command.hpp"
#include "tools/plan_command.hpp"
#include "tools/profile_command.hpp"
#include "tools/quantize_command.hpp"
#include "tools/roofline_command.hpp"
#include "tools/selftest_command.hpp"
#include "tools/stages_command.hpp"
#include "tools/to_stderr.hpp"

namespace {

/// Is --json a flag of the verb, and among the words? Of `bench` it takes a file.
bool wants_json(CLI::App const& app, std::vector<std::string> const& words) {
  if (std::ranges::find(words, "--json") == words.end()) return false;
  auto const verbs = app.get_subcommands();
  if (verbs.empty()) return false;
  CLI::Option const* const option = verbs.front()->get_option_no_throw("--json");
  return option != nullptr && option->get_items_expected_max() == 0;
}

/// Standard streams that the caller closed: a file that is opened next would get their numbers, and
/// D the text of a report. They are open for the other direction, so that using them fails.
void occupy_standard_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) == -1) [[maybe_unused]]
      int const opened = ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Log settings that are wrong cost the log, not the work.
void start_logging_or_warn() {
  try {
    tw::start_logging("warn");
  } catch (tw::rejected const& e) {
    tw::to_stderr("tilewright: warning: {}; it is ignored\n", e.what());
    std::string const& what = e.why().what;  // "environment variable NAME"
    ::unsetenv(what.substr(what.rfind(' ') + 1).c_str());
    start_logging_or_warn();
  }
}

/// Help and version: what CLI11 prints, and whether it could.
int print_and_exit(CLI::App const& app, CLI::Success const& e) {
  return static_cast<int>(
      tw::guarded(false, [&] { return static_cast<tw::exit_status>(app.exit(e)); }));
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  CLI::App app{"GEMM on tensor cores, or emulated on any CPU.", "tilewright"};
  app.formatter(std::make_shared<tw::help_formatter>());
  app.set_version_flag("-V,--version", fmt::format("tilewright {}", tw::version_text));
  app.require_subcommand(1);
  int status = 0;
  start_logging_or_warn();
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
  tw::refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& e) {
    return print_and_exit(app, e);
  } catch (CLI::ParseError const& e) {
    bool const json = wants_json(app, {argv + 1, argv + argc});
    return static_cast<int>(tw::guarded(
        json, [&]() -> tw::exit_status { throw tw::rejected(tw::refusal_of(app, e)); }));
  }
  return status;
}
