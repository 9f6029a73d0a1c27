// SPDX-License-Identifier: Apache-2.0
// finding.cpp  One hazard in many runs is one finding.
#include "tools/check/hazards/finding.hpp"

namespace tw::hazards {

namespace {
// Threads, phases and offsets differ from run to run; what stands before the first digit names the
// access and the rule.
std::string key_of(finding const& f) {
  return f.code + f.text.substr(0, f.text.find_first_of("0123456789"));
}
}  // namespace

void kernel_result::add(finding f, bool came_first) {
  f.first_in = came_first ? 1 : 0;
  for (finding& old : findings)
    if (key_of(old) == key_of(f)) {
      old.count += f.count;
      if (old.last != f.first) ++old.runs;
      old.first_in += f.first_in;
      old.last = f.first;
      return;
    }
  f.runs = 1;
  f.last = f.first;
  findings.push_back(std::move(f));
}

}  // namespace tw::hazards
