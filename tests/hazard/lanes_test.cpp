// SPDX-License-Identifier: Apache-2.0
// lanes_test.cpp  Shuffles and votes whose mask, source lane or width is wrong, and their correct
//                 neighbours.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

TEST_P(Hazards, E0021LanesWithTwoMasks) {
  expect({.code = "E0021", .part = "shuffle_xor with different masks"},
         []<bool Broken>(memory, args) {
           if (lane_id() < 5 || !Broken)
             shuffle_xor(1, 1);  // earlier
           else
             shuffle_xor(1, 1, 16, 0xFFFFU);  // now
         });
}

TEST_P(Hazards, E0021LanesOfTwoShuffles) {
  expect({.code = "E0021", .part = "different instructions"}, []<bool Broken>(memory, args) {
    if (lane_id() < 16 || !Broken)
      shuffle_up(1, 1);  // earlier
    else
      shuffle_down(1, 1);  // now
  });
}

TEST_P(Hazards, E0070LaneThatTheMaskDoesNotName) {
  expect({.code = "E0070", .part = "executed by lane 16, which its mask 0x0000ffff"},
         []<bool Broken>(memory, args) {
           if (Broken || lane_id() < 16) vote_any(true, 0xFFFFU);  // now
         });
}

TEST_P(Hazards, E0071SourceThatTakesNoPart) {
  expect({.code = "E0071", .part = "reads from lane 8, which does not take part"},
         []<bool Broken>(memory, args) {
           if (lane_id() < 8) shuffle_down(1.0F, 1, Broken ? 32 : 8, 0xFFU);  // now
         });
}

TEST_P(Hazards, E0071SourceThatHasEnded) {
  expect<48>({.code = "E0071", .part = "which has ended or does not exist"},
             []<bool Broken>(memory, args) {
               shuffle_xor(1.0F, 16, Broken ? 32 : 16);  // now
             });
}

TEST_P(Hazards, E0072WidthThatIsNoPowerOfTwo) {
  expect({.code = "E0072", .part = "a width of 24 lanes"}, []<bool Broken>(memory, args) {
    shuffle(1, 0, Broken ? 24 : 8);  // now
  });
}

/// Lanes that have returned are not waited for, in whatever order they come.
TEST_P(Hazards, LanesThatReturnAreNotWaitedFor) {
  auto const body = []<bool Low>(memory, args) {
    bool const returns = Low ? lane_id() < 8 : lane_id() >= 24;
    if (returns) return;
    shuffle_xor(1, 0);
    ballot(true);
    redux_add(1);
  };
  emu::report const low = run_body<true>(body, scheduled(GetParam()));
  EXPECT_TRUE(low.clean()) << low.text();
  emu::report const high = run_body<false>(body, scheduled(GetParam()));
  EXPECT_TRUE(high.clean()) << high.text();
}

}  // namespace
}  // namespace tw::test
