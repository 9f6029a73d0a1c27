// SPDX-License-Identifier: Apache-2.0
// race_answer.cpp  A run, or the list of runs, as JSON on stdout.
#include "tools/command/playground/race_answer.hpp"

#include <nlohmann/json.hpp>

#include "tools/report/json_output.hpp"

namespace tw {

exit_status print_specimens() {
  print_json("tilewright.playground.list/1", race::list());
  return exit_status::done;
}

exit_status print_run(race::request const& r) {
  nlohmann::ordered_json const j = race::run(r);
  print_json("tilewright.playground.run/1", j);
  bool const clean = j["report"]["diagnoses"].empty() &&
                     (j["wrong_elements"].is_null() || j["wrong_elements"] == 0);
  return clean ? exit_status::done : exit_status::wrong;
}

}  // namespace tw
