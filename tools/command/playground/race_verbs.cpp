// SPDX-License-Identifier: Apache-2.0
// race_verbs.cpp  Options of `tilewright playground list` and `run`.
#include "tools/command/playground/race_verbs.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/command/guarded.hpp"
#include "tools/command/playground/race_answer.hpp"

namespace tw {

void add_race_verbs(CLI::App& playground, int& status) {
  CLI::App* const list = playground.add_subcommand(
      "list", "the kernels and planted faults of the page Find the race, as JSON");
  list->callback([&status] { status = static_cast<int>(guarded(true, print_specimens)); });
  auto const r = std::make_shared<race::request>();
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
      [r, &status] { status = static_cast<int>(guarded(true, [&] { return print_run(*r); })); });
}

}  // namespace tw
