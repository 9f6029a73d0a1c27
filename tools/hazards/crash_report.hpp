// SPDX-License-Identifier: Apache-2.0
// crash_report.hpp  Last words: which run it was when code of a plugin crashed.
#pragma once

#include <array>
#include <string>

#include "tilewright/base/check.hpp"

namespace tw::hazards {

/// While one lives, a signal that ends the process (a wild address, a failed assertion, a division
/// by 0) first prints the rejection, its `got` being what the signal means, to stderr, with `json`
/// also to stdout; the exit status is 2. One at a time.
class crash_report {
 public:
  crash_report(rejection r, bool json);
  ~crash_report();
  crash_report(crash_report const&) = delete;
  crash_report& operator=(crash_report const&) = delete;

 private:
  std::array<std::string, 5> text_, record_;  // of each signal
};

}  // namespace tw::hazards
