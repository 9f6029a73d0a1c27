// SPDX-License-Identifier: Apache-2.0
// profile_command.cpp  Runs ncu or reads its CSV; without ncu shows the line to run.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>

#include "tools/command/guarded.hpp"
#include "tools/command/profile/metrics.hpp"
#include "tools/command/profile/report.hpp"
#include "tools/command/profile/run_ncu.hpp"
#include "tools/io/mapped_file.hpp"
#include "tools/io/program.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/number_checks.hpp"

namespace tw {
namespace {

char const* const profile_manual =
    "Collects a few figures of the kernels that COMMAND launches with Nsight Compute (ncu), and "
    "states for each whether it is good or low and what to do. --show prints the line of ncu, "
    "and --from reads the CSV that it makes, on any machine. Without ncu the line is printed, "
    "and the exit status is 77. docs/profile.md explains the figures.";

struct profile_request {
  profile::ncu_request ncu;
  std::string from;
  bool show = false, list = false, as_json = false;
};

void print(char const* schema, bool as_json, nlohmann::ordered_json const& json,
           std::string const& text) {
  if (as_json)
    print_json(schema, json);
  else
    fmt::print("{}", text);
}

std::string content_of(std::string const& path) {
  mapped_file const file(path);
  auto const bytes = file.content();
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

void print_report(profile_request const& r, std::string const& path, std::string const& csv) {
  std::vector<profile::launch> const launches = profile::read_ncu_csv(path, csv);
  print("tilewright.profile/1", r.as_json, report_json(launches), report_text(launches));
}

exit_status answer_profile(profile_request r) {
  if (r.list) {
    print("tilewright.profile.metrics/1", r.as_json, profile::list_json(), profile::list_text());
    return exit_status::done;
  }
  if (r.from.empty() == r.ncu.command.empty())
    refuse("TW0654", "words of `tilewright profile`",
           r.from.empty() ? "neither a command nor --from" : "a command and --from",
           "-- COMMAND, or --from FILE.csv");
  if (!r.from.empty()) {
    print_report(r, r.from, content_of(r.from));
    return exit_status::done;
  }
  if (r.ncu.metrics.empty())
    for (profile::metric const& m : profile::metrics()) r.ncu.metrics.emplace_back(m.name);
  std::string const ncu = find_program("ncu");
  std::string const line = profile::shell_line(profile::ncu_words(r.ncu, "ncu", ""));
  if (r.show || ncu.empty()) {
    if (r.as_json)
      print_json("tilewright.profile.line/1", {{"line", line}, {"ncu", !ncu.empty()}});
    else
      to_stdout("{}\n", line);
    if (r.show) return exit_status::done;
    to_stderr(
        "tilewright: Nsight Compute (ncu) is not on PATH; run the line above where it is, and read "
        "its output with --from FILE.csv\n");
    return exit_status::no_hardware;
  }
  print_report(r, "of " + r.ncu.command.front(), profile::run_ncu(r.ncu, ncu));
  return exit_status::done;
}

}  // namespace

void add_profile_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<profile_request>();
  CLI::App* verb = app.add_subcommand(
      "profile", "figures of Nsight Compute for a command's kernels, with what they mean");
  verb->footer(profile_manual);
  verb->add_option("COMMAND", r->ncu.command, "a program and its arguments, after --");
  verb->add_option("--metrics", r->ncu.metrics, "names of ncu instead of those of --list")
      ->delimiter(',');
  verb->add_option("--kernel-name", r->ncu.kernel_name, "only kernels that this regex finds");
  verb->add_option("--skip", r->ncu.skip, "launches that are not profiled, at the beginning")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option("--launches", r->ncu.launches, "launches that are profiled; 0: all")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option(
      "--from", r->from,
      "the CSV of an earlier run of ncu, raw or details; tests/tools/data/ncu/raw.csv of "
      "the source tree is a sample");
  verb->add_flag("--show", r->show, "print the command line of ncu, run nothing");
  verb->add_flag("--list", r->list, "print the metrics, their meaning and thresholds");
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] { return answer_profile(*r); }));
  });
}

}  // namespace tw
