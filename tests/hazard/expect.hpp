// SPDX-License-Identifier: Apache-2.0
// expect.hpp  The expected diagnosis of a small kernel.
#pragma once

#include <string>

#include "tests/hazard/hazard_kernels.hpp"

namespace tw::test {

/// Of the first diagnosis. Its lines end in "// now" and "// earlier" near the test; of a race it
/// may name them the other way round.
struct expected {
  char const* code;
  std::string object = {};  // begins so
  int phase = -1;
  char const* part = "";  // of the text
  bool by_thread = true;  // not of what happens later, when a copy lands
};

/// The correct body is left in peace; the broken one is named, with all that a reader needs.
void expect_diagnosis(expected const& e, emu::report const& good, emu::report const& bad);

/// Each diagnosis is of this object in this phase, and names a line of the role "test".
void expect_objects(emu::report const& r, char const* object, int phase);

class Hazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  template <int Threads = 128, int Cluster = 1, class Body>
  void expect(expected const& e, Body body) {
    emu::options const o = scheduled(GetParam());
    expect_diagnosis(e, run_body<false, Threads, Cluster>(body, o),
                     run_body<true, Threads, Cluster>(body, o));
  }
};

}  // namespace tw::test
