// SPDX-License-Identifier: Apache-2.0
// main.cpp  The command tilewright: one verb per file, this one only gathers them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>

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

namespace {

/// Of a word that is missing and one that nobody knows the latter is the mistake.
tw::rejection refusal_of(CLI::App const& app, CLI::ParseError const& e) {
  std::string got = e.what();
  std::vector<std::string> const unknown = app.remaining(true);
  bool const missing = dynamic_cast<CLI::RequiredError const*>(&e) != nullptr;
  std::string need = "options as --help lists them";
  if (missing && !unknown.empty()) {
    got = fmt::format("{}, which is unknown", unknown.front());
  } else if (missing && app.get_subcommands().empty()) {
    got = "no verb";
  }
  if (app.get_subcommands().empty()) need = "a verb as `tilewright --help` lists them";
  return {"TW0615", "command line", got, need, ""};
}

/// Is --json a flag of the verb, and among the words? Of `bench` it takes a file.
bool wants_json(CLI::App const& app, std::vector<std::string> const& words) {
  if (std::ranges::find(words, "--json") == words.end()) return false;
  auto const verbs = app.get_subcommands();
  if (verbs.empty()) return false;
  CLI::Option const* const option = verbs.front()->get_option_no_throw("--json");
  return option != nullptr && option->get_items_expected_max() == 0;
}

}  // namespace

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
    bool const json = wants_json(app, {argv + 1, argv + argc});
    return static_cast<int>(
        tw::guarded(json, [&]() -> tw::exit_status { throw tw::rejected(refusal_of(app, e)); }));
  }
  return status;
}
