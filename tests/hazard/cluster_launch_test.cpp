// SPDX-License-Identifier: Apache-2.0
// cluster_launch_test.cpp  Cluster launch control: each piece of work is done once whatever the
//                          answers, in clusters of up to 16; and the rules of requests and answers.
#include <algorithm>
#include <vector>

#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

/// Each CTA counts the pieces of work that it gets: `done` has a place for each CTA of the grid.
struct work_params {
  int* done;
};
template <int Cluster>
struct takes_work {
  using params = work_params;
  struct smem {
    launch_response answer;
    mbarrier answered;
  };
  static constexpr int threads = 32, cluster = Cluster, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    bool const leads = thread_id() == 0;
    if (leads) s.answered.init(1), fence_mbarrier_init();
    cluster_sync();
    int work = cta_id();
    for (std::uint32_t phase = 0;; phase ^= 1U) {
      if (leads) red_add<mem_order::relaxed, scope::gpu>(&p.done[work], 1);
      if (leads) s.answered.arrive_expect_tx(sizeof(launch_response));
      cluster_sync();  // all have read the answer before
      if (leads && cluster_rank() == 0) launch_cancel_multicast(s.answer, s.answered);
      s.answered.wait(phase);
      if (!launch_cancelled(s.answer)) break;
      work = launch_cancelled_cta(s.answer).x + cluster_rank();
      fence_proxy_async();
    }
    cluster_sync();
  }
};

class ClusterLaunch : public testing::TestWithParam<int> {
 protected:
  /// The number of CTAs that were started.
  template <int Cluster>
  std::int64_t run(int clusters, std::uint64_t seed) {
    std::vector<int> done(static_cast<std::size_t>(clusters * Cluster));
    emu::options o = scheduled(GetParam());
    o.seed = seed;
    o.live_clusters = 2;
    emu::report const r = emu::run(takes_work<Cluster>{}, clusters * Cluster, {done.data()}, o);
    EXPECT_TRUE(r.clean()) << r.text();
    EXPECT_EQ(std::ranges::count(done, 1), clusters * Cluster);
    return r.counts.ctas;
  }
};

TEST_P(ClusterLaunch, EachPieceOfWorkIsDoneOnce) {
  std::int64_t started = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    started += run<1>(13, seed);
    run<2>(9, seed);
    run<16>(4, seed);
  }
  EXPECT_GE(started, 8 * 2);
  EXPECT_LT(started, 8 * 13);  // others are cancelled
}

INSTANTIATE_TEST_SUITE_P(Schedules, ClusterLaunch, testing::Range(0, 3));

using memory = hazard_smem&;
using args = hazard_params const&;

/// Thread 0 requests once, and all read the answer.
bool ask(hazard_smem& s, std::uint32_t phase, emu::site where = emu::site::here()) {
  if (thread_id() == 0) {
    s.full[0].arrive_expect_tx(sizeof(launch_response));
    launch_cancel(s.answer, s.full[0], where);
  }
  s.full[0].wait(phase);
  return launch_cancelled(s.answer, where);
}

TEST_P(Hazards, E0120RequestAfterAFailedOne) {
  expect({.code = "E0120", .part = "an answer has named none"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    bool const more = ask(s, 0);  // earlier
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0 && (more || Broken)) launch_cancel(s.answer, s.full[1]);  // now
  });
}

TEST_P(Hazards, E0121CtaOfAFailedAnswer) {
  expect({.code = "E0121", .part = "names no cluster"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    bool const more = ask(s, 0);
    if (more || Broken) launch_cancelled_cta(s.answer);  // now
  });
}

TEST_P(Hazards, E0121NoAnswer) {
  expect({.code = "E0121", .object = "answer", .part = "holds no answer"},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           if (Broken) {
             if (thread_id() == 0) s.answer = {};
             cta_sync();
             launch_cancelled(s.answer);  // now
           }
           ask(s, 0);
         });
}

TEST_P(Hazards, E0026AnswerReadBeforeItCame) {
  expect({.code = "E0026", .part = "before the answer to launch_cancel is known"},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           if (thread_id() == 0) {
             s.full[0].arrive_expect_tx(sizeof(launch_response));
             launch_cancel(s.answer, s.full[0]);  // earlier
           }
           if (!Broken) s.full[0].wait(0);
           if (thread_id() == 0) launch_cancelled(s.answer);  // now
           s.full[0].wait(0);
         });
}

}  // namespace
}  // namespace tw::test
