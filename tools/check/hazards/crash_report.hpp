// SPDX-License-Identifier: Apache-2.0
// crash_report.hpp  Last words: which run it was when code of a plugin crashed.
#pragma once

#include <array>
#include <string>

#include "tilewright/base/check.hpp"

namespace tw::hazards {

/// While one lives, a signal that ends the process (a wild address, a failed assertion, a division
/// by 0) or a call of exit() first prints the rejection, its `got` being what happened, to stderr,
/// with `json` also to stdout; the exit status is 2. One at a time.
class crash_report {
 public:
  crash_report(rejection r, bool json);
  ~crash_report();
  crash_report(crash_report const&) = delete;
  crash_report& operator=(crash_report const&) = delete;

 private:
  std::array<std::string, 7> text_, record_;  // of each crash
};

/// SIGPROF after so much processor time of this process.
void set_processor_timer(double seconds);
/// The meaning of a signal that ends a process.
char const* meaning_of_signal(int signal);

}  // namespace tw::hazards
