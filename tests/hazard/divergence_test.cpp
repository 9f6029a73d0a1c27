// SPDX-License-Identifier: Apache-2.0
// divergence_test.cpp  Instructions of a warp that some of its lanes do not come to, and the same
//                      ones where all lanes come, have ended, or are not named by the mask.
#include "tests/hazard/protocol.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using protocol_args = protocol_params const&;

TEST_P(Protocol, WarpIdInABranchOfOneLane) {
  expect("E0075", "lane 0 waits at warp_id for lanes 1-31",
         []<bool Broken>(memory s, protocol_args) {
           int const warp = Broken ? 0 : warp_id();
           if (lane_id() == 0) s.x[Broken ? warp_id() : warp] = 1;
           cta_sync();
         });
}

TEST_P(Protocol, WarpgroupIdInABranchBeforeAWarpSync) {
  expect("E0075", "thread_id() / 128", []<bool Broken>(memory s, protocol_args) {
    if (Broken ? lane_id() < 12 : warp_id() < 2) s.x[thread_id()] = warpgroup_id();
    warp_sync();
  });
}

TEST_P(Protocol, WarpUniformInABranchThatTheOthersWaitFor) {
  expect("E0075", "warp_uniform", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.full[0].init(1);
    fence_mbarrier_init();
    cta_sync();
    int const k = Broken ? 0 : warp_uniform(7);
    if (thread_id() == 0) {
      s.x[0] = Broken ? warp_uniform(7) : k;
      s.full[0].arrive();
    }
    s.full[0].wait(0);
  });
}

TEST_P(Protocol, ElectOneInABranch) {
  expect("E0075", "elect_one", []<bool Broken>(memory s, protocol_args) {
    if ((!Broken || lane_id() >= 16) && elect_one()) s.x[thread_id() / 32] = 1;
    warp_sync();
  });
}

TEST_P(Protocol, FullShuffleInABranchWhileTheOthersAreAtABarrier) {
  expect("E0075", "lanes 8-31 wait at", []<bool Broken>(memory s, protocol_args) {
    std::uint32_t const lanes = ballot(lane_id() < 8);
    if (lane_id() < 8) s.x[thread_id()] = shuffle_xor(1, 1, 8, Broken ? all_lanes : lanes);
    named_barrier_sync(1, 128);
  });
}

TEST_P(Protocol, VotesAndReductionsInABranch) {
  expect("E0075", "vote_any", []<bool Broken>(memory s, protocol_args) {
    if (Broken ? lane_id() % 2 == 0 : warp_id() % 2 == 0) s.x[thread_id()] = vote_any(true);
    cta_sync();
  });
  expect("E0075", "redux_add outside of the branch, or with the mask",
         []<bool Broken>(memory s, protocol_args) {
           if (lane_id() < 3 || !Broken) s.x[thread_id()] = redux_add(1);
           warp_sync();
         });
}

TEST_P(Protocol, AnotherInstructionOfTheWarpInTheOtherBranch) {
  expect("E0021", "ballot", []<bool Broken>(memory s, protocol_args) {
    if (Broken && lane_id() == 31) s.x[thread_id()] = warp_id();
    s.a[0][thread_id()] = ballot(true);
  });
}

TEST_P(Protocol, WarpIdWithoutTheLaneThatGivesIt) {
  expect("E0071", "warp_id reads from lane 0", []<bool Broken>(memory s, protocol_args) {
    if (lane_id() == (Broken ? 0 : 31)) return;
    s.x[thread_id()] = warp_id();
  });
}

TEST_P(Protocol, MatrixInstructionsOfSomeLanes) {
  expect("E0075", "lanes 0-15 executed a stmatrix", []<bool Broken>(memory s, protocol_args) {
    if (!Broken || lane_id() < 16) stmatrix<1>(&s.a[0][2 * thread_id()], b32<1>{});
  });
  expect("E0075", "ldmatrix outside of the branch", []<bool Broken>(memory s, protocol_args) {
    fill(s.a[0]);
    cta_sync();
    if (!Broken || lane_id() < 16) ldmatrix<1>(&s.a[0][2 * thread_id()]);
  });
}

TEST_P(Protocol, LaneThatIsLateAtAWarpBarrierBecauseOfAnother) {
  expect("E0075", "warp_sync", []<bool Broken>(memory, protocol_args) {
    if (Broken && lane_id() == 4) warp_sync();
    cta_sync();
  });
}

/// The barrier that lacks an arrival is the cause, not the lanes that wait for the one that polls.
TEST_P(Protocol, OneLaneWaitsForAnMbarrierAndTheOthersForIt) {
  expect("E0001", "full", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.full[0].init(Broken ? 2 : 1);
    fence_mbarrier_init();
    cta_sync();
    if (thread_id() == 32) s.full[0].arrive();
    if (lane_id() == 0) s.full[0].wait(0);
    warp_id();
  });
}

TEST_P(Protocol, LanesThatAllComeToAnInstructionOfTheWarp) {
  expect_clean([]<bool>(memory s, protocol_args) {
    int const group = warpgroup_id(), warp = warp_id();
    if (warp == 1) s.x[thread_id()] = warp_uniform(group);
    if (warp_id() > 1 && elect_one()) s.x[thread_id()] = warp;
    cta_sync();
  });
}

/// shfl.sync, redux.sync and vote.sync wait for the mask, not for one place of the program.
TEST_P(Protocol, LanesThatComeToOneInstructionFromTwoBranches) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (lane_id() < 9)
      s.x[thread_id()] = warp_id();
    else
      s.x[thread_id()] = warp_id() + 1;
    warp_sync();
  });
}

TEST_P(Protocol, LanesThatHaveEndedAreNotWaitedFor) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (lane_id() >= 5) return;
    int const warp = warp_uniform(warp_id());
    if (elect_one()) s.x[thread_id() / 32] = static_cast<float>(warp);
    if (lane_id() < 2) return;
    if (elect_one()) s.x[64 + thread_id()] = static_cast<float>(warp);
  });
  expect_clean<40>([]<bool>(memory s, protocol_args) {
    if (elect_one()) s.x[thread_id() / 32] = 1;
  });
}

}  // namespace
}  // namespace tw::test
