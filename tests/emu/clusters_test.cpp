// SPDX-License-Identifier: Apache-2.0
// clusters_test.cpp  All clusters of a launch are live at once: a CTA may wait for another's result
//                    in global memory, as stream-K and split-K do, on one OS thread or several.
#include <gtest/gtest.h>

#include <atomic>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

struct chain {
  std::atomic<int>* turn;
  int* order;
};

/// CTA i waits until CTA i + 1 has had its turn: the last one starts.
struct backwards {
  using params = chain;
  static constexpr int threads = 64, cluster = 2, smem_bytes = 1024;
  static void run(params const& p) {
    int const mine = cta_count() - 1 - cta_id();
    if (thread_id() == 0) {
      while (p.turn->load() != mine) backoff();
      p.order[mine] = cta_id();
      p.turn->store(mine + 1);
    }
    cluster_sync();
  }
};

TEST(Clusters, AllAreLiveAtOnce) {
  for (int os_threads : {1, 2, 3})
    for (auto policy :
         {emu::async_policy::eager, emu::async_policy::lazy, emu::async_policy::random}) {
      constexpr int ctas = 24;
      std::atomic<int> turn{0};
      std::vector<int> order(ctas, -1);
      emu::options o;
      o.os_threads = os_threads;
      o.policy = policy;
      launch<backwards>(ctas, {&turn, order.data()}, o);
      for (int i = 0; i < ctas; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], ctas - 1 - i);
    }
}

struct counts {
  std::atomic<int>* seen;
};
struct identity {
  using params = counts;
  static constexpr int threads = 96, cluster = 4, smem_bytes = 1024;
  static void run(params const& p) {
    EXPECT_EQ(cta_id(), cluster_id() * 4 + cluster_rank());
    EXPECT_EQ(cluster_count() * 4, cta_count());
    EXPECT_EQ(warp_id() * 32 + lane_id(), thread_id());
    p.seen[cta_id() * 96 + thread_id()]++;
  }
};

TEST(Clusters, EveryThreadOfTheGridRunsOnce) {
  std::vector<std::atomic<int>> seen(96 * 40);
  emu::options o;
  o.os_threads = 2;
  o.live_clusters = 1;
  launch<identity>(40, {seen.data()}, o);
  for (auto const& s : seen) EXPECT_EQ(s.load(), 1);
}

}  // namespace
}  // namespace tw::test
