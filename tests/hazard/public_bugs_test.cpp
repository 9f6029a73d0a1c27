// SPDX-License-Identifier: Apache-2.0
// public_bugs_test.cpp  Synchronisation bugs of public projects, written again for other element
//                       types, numbers of stages and roles, each beside the corrected kernel. The
//                       comment of a test names the report.
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>

#include "tests/hazard/hazard_kernels.hpp"

namespace tw::test {
namespace {

struct bug_smem {
  alignas(128) std::uint8_t ring[4][1024];
  alignas(128) std::int32_t sums[512];
  mbarrier full[4], empty[4], slot;
};
struct bug_params {
  std::uint8_t const* in;  // 16 KiB
  std::uint8_t* out;       // the same
  std::int32_t* partial;   // 512
  std::uint32_t* flag;     // 0
  int turns;               // of a loop that is empty for this problem: 0
};
using bug_memory = bug_smem&;
using bug_args = bug_params const&;

template <class Body, bool Broken, int Threads, int Cluster>
struct bug_kernel {
  using params = bug_params;
  using smem = bug_smem;
  static constexpr int threads = Threads, cluster = Cluster, smem_bytes = sizeof(smem);
  static void run(params const& p) {
    enter_role("test");
    Body{}.template operator()<Broken>(dynamic_smem<smem>(), p);
  }
};

template <bool Broken, int Threads, int Cluster, class Body>
emu::report run_bug(Body, int ctas, emu::options const& o) {
  alignas(128) static std::array<std::uint8_t, 16384> in, out;
  alignas(128) static std::array<std::int32_t, 512> partial;
  static std::uint32_t flag;
  partial.fill(0);
  flag = 0;
  return emu::run<bug_kernel<Body, Broken, Threads, Cluster>, plain_accesses_seen>(
      {}, ctas, {in.data(), out.data(), partial.data(), &flag, 0}, o);
}

class PublicBugs : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }
  /// The first diagnosis has one of the codes, as the schedule decides, and `part` in some text.
  template <int Threads = 128, int Cluster = 1, class Body>
  void expect(std::initializer_list<char const*> codes, char const* part, Body body,
              int ctas = Cluster) {
    emu::options const o = scheduled(GetParam());
    emu::report const good = run_bug<false, Threads, Cluster>(body, ctas, o);
    EXPECT_TRUE(good.clean()) << good.text();
    emu::report const bad = run_bug<true, Threads, Cluster>(body, ctas, o);
    ASSERT_FALSE(bad.clean()) << *codes.begin() << " was not seen";
    bool fits = false;
    for (char const* const code : codes) fits |= bad.diagnoses.front().code == code;
    EXPECT_TRUE(fits) << bad.text();
    EXPECT_NE(bad.text().find(part), std::string::npos) << bad.text();
    expect_readable(bad);
  }
};

/// Barriers of the ring: one producer, `consumers` arrivals that free a stage.
void make_ring(bug_smem& s, std::uint32_t consumers) {
  if (thread_id() == 0) {
    for (int i = 0; i < 4; ++i) {
      s.full[i].init(1);
      s.empty[i].init(consumers);
    }
    s.slot.init(1);
    fence_mbarrier_init();
  }
  cluster_sync();
}
void load_stage(bug_smem& s, bug_params const& p, int stage, int n, std::uint32_t bytes = 1024) {
  s.full[stage].arrive_expect_tx(bytes);
  bulk_load(s.ring[stage], p.in + 1024 * (n % 16), 1024, s.full[stage]);
}

// MoonshotAI/FlashKDA#24: the fence stands in a loop that has no turns for short sequences.
TEST_P(PublicBugs, FenceInALoopWithoutTurns) {
  expect({"E0025"}, "missing: a proxy fence", []<bool Broken>(bug_memory s, bug_args p) {
    for (int turn = 0; turn < p.turns; ++turn) fence_proxy_async();
    s.sums[thread_id()] = thread_id();
    if (!Broken) fence_proxy_async();
    cta_sync();
    if (thread_id() != 96) return;
    bulk_store(p.out, s.sums, 512);
    tma_store_commit();
    tma_store_wait_read<0>();
  });
}

// deepseek-ai/DeepEP#657: of four buffers five are under way.
TEST_P(PublicBugs, WaitForStoresThatIsOneTooShallow) {
  expect<32>({"E0028"}, "ring[", []<bool Broken>(bug_memory s, bug_args p) {
    for (int n = 0; n < 9; ++n) {
      if (lane_id() == 0) tma_store_wait_read<Broken ? 4 : 3>();
      warp_sync();
      for (int i = lane_id(); i < 1024; i += 32) s.ring[n % 4][i] = 1;
      fence_proxy_async();
      warp_sync();
      if (lane_id() == 0) {
        bulk_store(p.out + 1024 * n, s.ring[n % 4], 1024);
        tma_store_commit();
      }
    }
    if (lane_id() == 0) tma_store_wait_read<0>();
  });
}

// NVIDIA/cudnn-frontend#784: a named barrier between the writers and the warp that stores.
TEST_P(PublicBugs, NamedBarrierInsteadOfAProxyFence) {
  expect<96>({"E0025"}, "missing: a proxy fence", []<bool Broken>(bug_memory s, bug_args p) {
    if (warp_id() < 2) {
      s.sums[thread_id()] = 3;
      if (!Broken) fence_proxy_async();
      named_barrier_arrive(5, 96);
    } else {
      named_barrier_sync(5, 96);
      if (lane_id() != 0) return;
      bulk_store(p.out, s.sums, 256);
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  });
}

// tile-ai/tilelang#2674: the parity is computed from the step of the tile. Three stages and four
// steps, two tiles.
TEST_P(PublicBugs, ParityThatBeginsAnewWithEachTile) {
  expect<96>({"E0034", "E0001"}, "[1]", []<bool Broken>(bug_memory s, bug_args p) {
    make_ring(s, 2);
    int sum = 0;
    for (int n = 0; n < 8; ++n) {
      int const stage = n % 3;
      std::uint32_t const turn = n / 3;
      if (thread_id() == 0) {
        s.empty[stage].wait((turn & 1U) ^ 1U);
        load_stage(s, p, stage, n);
      }
      if (warp_id() > 0) {
        s.full[stage].wait(Broken ? n % 4 / 3 & 1 : turn & 1U);
        sum += s.ring[stage][thread_id()];
        fence_proxy_async();
        warp_sync();
        if (lane_id() == 0) s.empty[stage].arrive();
      }
    }
    s.sums[thread_id()] = sum;
  });
}

// tile-ai/tilelang#3087: a barrier of one slot is waited for with the parity of the ring.
TEST_P(PublicBugs, ParityOfTheRingOnABarrierOfOneSlot) {
  expect<64>({"E0034", "E0035", "E0001"}, "slot", []<bool Broken>(bug_memory s, bug_args) {
    make_ring(s, 1);
    for (std::uint32_t n = 0; n < 6; ++n) {
      if (thread_id() == 0) s.slot.arrive();
      if (warp_id() == 1) {
        s.slot.wait(Broken ? n / 2 & 1U : n & 1U);
        if (lane_id() == 0) s.empty[0].arrive();
      }
      if (thread_id() == 0) s.empty[0].wait(n & 1U);
    }
  });
}

// deepseek-ai/DeepEP#293: the count is that of warps, and every lane arrives. Three stages, two
// consumer warps, and two turns of the ring.
TEST_P(PublicBugs, EveryLaneArrivesForItsWarp) {
  expect<96>({"E0003", "E0035"}, "empty[", []<bool Broken>(bug_memory s, bug_args p) {
    make_ring(s, 2);
    int sum = 0;
    for (int n = 0; n < 6; ++n) {
      int const stage = n % 3;
      std::uint32_t const turn = n / 3;
      if (thread_id() == 0) {
        s.empty[stage].wait((turn & 1U) ^ 1U);
        load_stage(s, p, stage, n);
      }
      if (warp_id() == 0) continue;
      s.full[stage].wait(turn & 1U);
      sum += s.ring[stage][lane_id()];
      fence_proxy_async();
      warp_sync();
      if (Broken || lane_id() == 0) s.empty[stage].arrive();
    }
    s.sums[thread_id()] = sum;
  });
}

// Dao-AILab/flash-attention#1317: the producer waits for a stage that no thread has used.
TEST_P(PublicBugs, FirstParityOfAnEmptyStage) {
  expect<64>({"E0001"}, "empty[0]", []<bool Broken>(bug_memory s, bug_args p) {
    make_ring(s, 1);
    int sum = 0;
    for (int n = 0; n < 5; ++n) {
      std::uint32_t const turn = n / 4;
      if (thread_id() == 0) {
        s.empty[n % 4].wait(Broken ? turn & 1U : (turn & 1U) ^ 1U);
        load_stage(s, p, n % 4, n);
      }
      if (warp_id() == 1) {
        s.full[n % 4].wait(turn & 1U);
        sum += s.ring[n % 4][lane_id()];
        fence_proxy_async();
        warp_sync();
        if (lane_id() == 0) s.empty[n % 4].arrive();
      }
    }
    s.sums[thread_id()] = sum;
  });
}

// deepseek-ai/FlashMLA#57: the count includes a warpgroup that takes another branch.
TEST_P(PublicBugs, NamedBarrierForThreadsOfAnotherRole) {
  expect<384>({"E0001"}, "256 of 384 threads came", []<bool Broken>(bug_memory s, bug_args) {
    if (warpgroup_id() == 0) return;
    int const t = thread_id() - 128;
    s.sums[t] = 1;
    named_barrier_sync(3, Broken ? 384 : 256);
    s.sums[256 + t] = s.sums[255 - t];
  });
}

// vllm-project/vllm#26026: the reader of the other half arrives and goes on.
TEST_P(PublicBugs, ArriveWhereTheThreadHasToWait) {
  expect<64>({"E0024", "E0029"}, "sums", []<bool Broken>(bug_memory s, bug_args) {
    s.sums[thread_id()] = 1;
    if (Broken && warp_id() == 1)
      named_barrier_arrive(1, 64);
    else
      named_barrier_sync(1, 64);
    s.sums[64 + thread_id()] = s.sums[63 - thread_id()];
  });
}

// NVIDIA/cutlass#3597, ml-explore/mlx#2340: the second reduction writes over the first one's sums.
TEST_P(PublicBugs, ScratchOfTwoReductions) {
  expect({"E0024"}, "sums", []<bool Broken>(bug_memory s, bug_args) {
    auto const sum_of_all = [&](int v) {
      int const mine = redux_add(v);
      if (lane_id() == 0) s.sums[thread_id() / 32] = mine;
      cta_sync();
      return s.sums[0] + s.sums[1] + s.sums[2] + s.sums[3];
    };
    int const sum = sum_of_all(thread_id());
    if (!Broken) cta_sync();
    s.sums[128 + thread_id()] = sum_of_all(sum * thread_id());
  });
}

// csarofeen/pytorch#2457: the group is committed after the wait that should wait for it.
TEST_P(PublicBugs, CommitAfterTheWait) {
  expect({"E0045"}, "ring[", []<bool Broken>(bug_memory s, bug_args p) {
    cp_async<4>(s.ring[0] + 4 * thread_id(), p.in + 4 * thread_id());
    if (!Broken) cp_async_commit();
    cp_async_wait<0>();
    if (Broken) cp_async_commit();
    cta_sync();
    s.sums[thread_id()] = s.ring[0][(4 * thread_id() + 64) % 512];
    cp_async_wait<0>();
  });
}

// tile-ai/tilelang#2505: the wait counts two groups for each stage, of A and of B, where the loop
// commits one.
TEST_P(PublicBugs, TwoGroupsForEachStage) {
  expect({"E0045"}, "ring[", []<bool Broken>(bug_memory s, bug_args p) {
    int sum = 0;
    for (int n = 0; n < 6; ++n) {
      if (n < 4) {
        cp_async<4>(s.ring[n] + 4 * thread_id(), p.in + 4 * thread_id());
        cp_async<4>(s.ring[n] + 512 + 4 * thread_id(), p.in + 4 * thread_id());
      }
      cp_async_commit();
      if (n < 2) continue;
      cp_async_wait<Broken ? 4 : 2>();
      cta_sync();
      sum += s.ring[n - 2][0] + s.ring[n - 2][512];
    }
    cp_async_wait<0>();
    s.sums[thread_id()] = sum;
  });
}

// inclusionAI/humming#56: the leader loads the next tile when its own warp has read.
TEST_P(PublicBugs, LeaderWaitsForItsOwnWarp) {
  expect({"E0024", "E0026", "E0025"}, "ring[0]", []<bool Broken>(bug_memory s, bug_args p) {
    make_ring(s, 1);
    if (thread_id() == 0) load_stage(s, p, 0, 0);
    s.full[0].wait(0);
    cta_sync();
    s.sums[thread_id()] = s.ring[0][thread_id()];
    fence_proxy_async();
    if (Broken)
      warp_sync();
    else
      cta_sync();
    if (thread_id() == 0) {
      load_stage(s, p, 0, 1);
      s.full[0].wait(1);
    }
  });
}

// NVIDIA/Fuser#2391: the lock of a serial sum is passed on while other threads still store.
TEST_P(PublicBugs, LockIsPassedOnBeforeTheStores) {
  expect(
      {"E0042"}, "partial",
      []<bool Broken>(bug_memory, bug_args p) {
        if (thread_id() == 0)
          while (load_acquire(p.flag) != static_cast<std::uint32_t>(cta_id())) backoff();
        cta_sync();
        if (Broken && thread_id() == 0) red_add_release(p.flag, 1);
        p.partial[thread_id()] += 1;
        cta_sync();
        if (!Broken && thread_id() == 0) red_add_release(p.flag, 1);
      },
      3);
}

// facebookexperimental/triton#652: a barrier of the CTA after the inits, which a peer arrives on.
TEST_P(PublicBugs, CtaBarrierBeforeArrivalsOfAPeer) {
  expect<64, 2>({"E0002", "E0033"}, "empty[0]", []<bool Broken>(bug_memory s, bug_args) {
    if (thread_id() == 0) {
      s.empty[0].init(1);
      fence_mbarrier_init();
    }
    if (Broken)
      cta_sync();
    else
      cluster_sync();
    if (thread_id() == 0) s.empty[0].arrive_remote(1 - cluster_rank());
    s.empty[0].wait<scope::cluster>(0);
    cluster_sync();
  });
}

// flashinfer-ai/flashinfer-bench#183: the peer of a multicast expects its own half alone.
TEST_P(PublicBugs, PeerExpectsItsOwnHalf) {
  expect<64, 2>(
      {"E0015", "E0026", "E0032", "E0036"}, "full[0]", []<bool Broken>(bug_memory s, bug_args p) {
        make_ring(s, 1);
        int const rank = cluster_rank();
        if (thread_id() == 0) {
          s.full[0].arrive_expect_tx(Broken && rank == 1 ? 512 : 1024);
          bulk_load_multicast(s.ring[0] + 512 * rank, p.in + 512 * rank, 512, s.full[0], 3);
        }
        s.full[0].wait(0);
        s.sums[thread_id()] = s.ring[0][16 * thread_id()];
        cluster_sync();
      });
}

// NVIDIA/cutlass#851: both CTAs multicast the whole tile.
TEST_P(PublicBugs, BothCtasMulticastTheWholeTile) {
  expect<32, 2>({"E0015", "E0024", "E0026", "E0032", "E0036"}, "ring[0]",
                []<bool Broken>(bug_memory s, bug_args p) {
                  make_ring(s, 1);
                  int const half = Broken ? 0 : 512 * cluster_rank();
                  if (thread_id() == 0) {
                    s.full[0].arrive_expect_tx(1024);
                    bulk_load_multicast(s.ring[0] + half, p.in + half, Broken ? 1024 : 512,
                                        s.full[0], 3);
                  }
                  s.full[0].wait(0);
                  s.sums[thread_id()] = s.ring[0][32 * thread_id()];
                  cluster_sync();
                });
}

// deepseek-ai/DeepGEMM#415: the CTAs of a pair have groups of different lengths, and one leaves.
TEST_P(PublicBugs, PairOfTwoGroups) {
  expect<32, 2>({"E0001", "E0016", "E0036"}, "CTA 1", []<bool Broken>(bug_memory s, bug_args p) {
    make_ring(s, 1);
    int const turns = Broken && cluster_rank() == 1 ? 2 : 3;
    for (int n = 0; n < turns; ++n) {
      if (thread_id() == 0) {
        s.full[n].arrive_expect_tx(1024);
        bulk_load_multicast(s.ring[n] + 512 * cluster_rank(), p.in + 512 * cluster_rank(), 512,
                            s.full[n], 3);
      }
      s.full[n].wait(0);
    }
    if (turns == 3) cluster_sync();
  });
}

INSTANTIATE_TEST_SUITE_P(Schedules, PublicBugs, testing::Range(0, 4));

}  // namespace
}  // namespace tw::test
