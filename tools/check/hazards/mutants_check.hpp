// SPDX-License-Identifier: Apache-2.0
// mutants_check.hpp  The mutants and the correct kernels that they come from, as a table.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

struct mutant_row {
  std::string name, code;  // "kernel/mutant"; the first of its codes that was seen, or is owed
  int caught = 0, runs = 0;
  std::string seen;    // what came first in the runs that were not caught: codes, or nothing
  std::string change;  // in words
  std::vector<std::string> expects;  // codes, any of which is right
  std::string example;               // the diagnosis of the first run, as it is printed
};

struct mutants_result {
  std::vector<mutant_row> mutants;
  int correct_kernels = 0, correct_runs = 0;
  int false_reports = 0;  // runs of correct kernels with a report or a wrong result
  std::string false_text;

  bool good() const;
};

/// All mutants, in all four schedule families, with r.seeds seeds each.
mutants_result check_mutants(request const& r);

/// {"mutants": [{"name", "code", "caught", "runs"}, ...], "false_reports": n}; with examples, each
/// mutant has "change", "expects" and "example" too, and the runs of correct kernels are counted.
nlohmann::ordered_json to_json(mutants_result const& m, bool examples);
std::string text_of(mutants_result const& m, bool examples);

}  // namespace tw::hazards
