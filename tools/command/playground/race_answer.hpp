// SPDX-License-Identifier: Apache-2.0
// race_answer.hpp  The answers of `tilewright playground list` and `run`, which the module for
//                  emulated runs gives without a command line parser.
#pragma once

#include "tilewright/base/check.hpp"
#include "tools/check/race/race.hpp"

namespace tw {

/// Prints the kernels and planted faults as JSON.
exit_status print_specimens();
/// Makes a run and prints its record as JSON; `wrong` with a diagnosis or a wrong element. Refuses
/// an unknown name, schedule or size (TW0634, TW0680).
exit_status print_run(race::request const& r);

}  // namespace tw
