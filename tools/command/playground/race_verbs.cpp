// SPDX-License-Identifier: Apache-2.0
// race_verbs.cpp  `tilewright playground list` and `run`.
#include "tools/command/playground/race_verbs.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/check/race/race.hpp"
#include "tools/command/guarded.hpp"
#include "tools/report/json_output.hpp"

namespace tw {
namespace {

exit_status run_specimen(race::request const& r) {
  nlohmann::ordered_json const j = race::run(r);
  print_json("tilewright.playground.run/1", j);
  bool const clean = j["report"]["diagnoses"].empty() &&
                     (j["wrong_elements"].is_null() || j["wrong_elements"] == 0);
  return clean ? exit_status::done : exit_status::wrong;
}

exit_status print_list() {
  print_json("tilewright.playground.list/1", race::list());
  return exit_status::done;
}

}  // namespace

void add_race_verbs(CLI::App& playground, int& status,
                    std::function<void(double)> const& progress) {
  CLI::App* const list = playground.add_subcommand(
      "list", "the kernels and planted faults of the page Find the race, as JSON");
  list->callback([&status] { status = static_cast<int>(guarded(true, print_list)); });
  auto const r = std::make_shared<race::request>();
  r->progress = progress;
  CLI::App* const run =
      playground.add_subcommand("run", "one emulated run of a kernel or fault, as JSON");
  run->add_option("NAME", r->name, "as `list` prints it")->required();
  run->add_option("--schedule", r->schedule, "eager, lazy, random or 'random warps'")
      ->capture_default_str();
  run->add_option("--seed", r->seed, "of the schedule")->capture_default_str();
  run->add_option("--size", r->size, "of a rung: M = N = K (default: one that shows the fault)")
      ->check(CLI::Range(16, 1024));
  run->add_flag("!--no-timeline", r->timeline, "without the timeline");
  run->callback(
      [r, &status] { status = static_cast<int>(guarded(true, [&] { return run_specimen(*r); })); });
}

}  // namespace tw
