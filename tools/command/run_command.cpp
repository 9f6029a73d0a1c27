// SPDX-License-Identifier: Apache-2.0
// run_command.cpp  The command line of the command and of the demo's: streams, log, words, status.
#include "tools/command/run_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "src/base/log.hpp"
#include "tilewright/base/version.hpp"
#include "tools/command/command_line.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/help_text.hpp"
#include "tools/io/to_stderr.hpp"

namespace tw {
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
    start_logging("warn");
  } catch (rejected const& e) {
    to_stderr("tilewright: warning: {}; it is ignored\n", e.what());
    std::string const& what = e.why().what;  // "environment variable NAME"
    ::unsetenv(what.substr(what.rfind(' ') + 1).c_str());
    start_logging_or_warn();
  }
}

/// Help and version: what CLI11 prints, and whether it could.
int print_and_exit(CLI::App const& app, CLI::Success const& e) {
  return static_cast<int>(guarded(false, [&] { return static_cast<exit_status>(app.exit(e)); }));
}

}  // namespace

int run_command(int argc, char** argv, void (*add_verbs)(CLI::App& app, int& status)) {
  occupy_standard_streams();
  CLI::App app{"GEMM on tensor cores, or emulated on any CPU.", "tilewright"};
  app.formatter(std::make_shared<help_formatter>());
  app.set_version_flag("-V,--version", fmt::format("tilewright {}", version_text));
  app.require_subcommand(1);
  int status = 0;
  start_logging_or_warn();
  add_verbs(app, status);
  refuse_empty_values(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& e) {
    return print_and_exit(app, e);
  } catch (CLI::ParseError const& e) {
    bool const json = wants_json(app, {argv + 1, argv + argc});
    return static_cast<int>(
        guarded(json, [&]() -> exit_status { throw rejected(refusal_of(app, e)); }));
  }
  return status;
}

}  // namespace tw
