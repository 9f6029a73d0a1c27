// SPDX-License-Identifier: Apache-2.0
// rules_test.cpp  For each rule of barriers, copies and warp-wide instructions a small kernel that
//                 breaks it and its neighbour that keeps it.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

TEST_P(Hazards, E0008WarpsOfAWarpgroupDisagree) {
  expect({.code = "E0008", .part = "request 232 registers and 40"}, []<bool Broken>(memory, args) {
    if (Broken && warp_id() == 2)
      set_max_regs_dec<40>();  // now
    else
      set_max_regs_inc<232>();  // earlier
  });
}

// Of 504 registers a lane (65,536 / 384, rounded down to 168), not of 512: seen on an H200.
TEST_P(Hazards, E0008MoreRegistersThanThereAre) {
  expect<384>({.code = "E0008", .part = "504 for a lane of its 3 warpgroups; 32 + 240 + 240 = 512"},
              []<bool Broken>(memory, args) {
                if (warpgroup_id() == 0)
                  set_max_regs_dec<Broken ? 32 : 24>();
                else
                  set_max_regs_inc<240>();  // now
              });
}

TEST_P(Hazards, E0008MoreRegistersOfFourWarpgroups) {
  expect<512>({.code = "E0008", .part = "512 for a lane of its 4 warpgroups; 40 + 160 + 160 + 160"},
              []<bool Broken>(memory, args) {
                if (warpgroup_id() == 0)
                  set_max_regs_dec<Broken ? 40 : 32>();
                else
                  set_max_regs_inc<160>();  // now
              });
}

// Warpgroup 0 gets back what warpgroup 1 gives up later; without that it waits for ever.
TEST_P(Hazards, E0008RegistersInTurns) {
  expect<384>({.code = "E0008", .part = "168 + 240 + 168 = 576"}, []<bool Broken>(memory, args) {
    if (warpgroup_id() == 0) {
      set_max_regs_dec<24>();
      named_barrier_sync(1, 256);
      set_max_regs_inc<168>();  // now
    } else if (warpgroup_id() == 1) {
      set_max_regs_inc<240>();
      named_barrier_sync(1, 256);
      if (!Broken) set_max_regs_dec<24>();
    }
  });
}

TEST_P(Hazards, E0008IncreaseToFewer) {
  expect<384>({.code = "E0008", .part = "set_max_regs_inc<160> in warpgroup 1"},
              []<bool Broken>(memory, args) {
                if (warpgroup_id() == 0)
                  set_max_regs_dec<24>();
                else if (Broken && warpgroup_id() == 1)
                  set_max_regs_inc<160>();  // now
                else
                  set_max_regs_inc<240>();
              });
}

// ptxas launches a kernel whose largest count is 160 with 160 registers.
TEST_P(Hazards, E0008IncreaseToWhatItHas) {
  expect<384>({.code = "E0008", .part = "set_max_regs_inc<80> in warpgroup 1"},
              []<bool Broken>(memory, args) {
                if (warpgroup_id() == 0)
                  set_max_regs_dec<24>();
                else
                  set_max_regs_inc<160>();
                if (Broken && warpgroup_id() == 1) set_max_regs_inc<80>();  // now
              });
}

TEST_P(Hazards, E0008DecreaseToMore) {
  expect<384>({.code = "E0008", .part = "set_max_regs_dec<200> in warpgroup 2"},
              []<bool Broken>(memory, args) {
                if (warpgroup_id() == 2)
                  set_max_regs_dec<Broken ? 200 : 24>();  // now
                else
                  set_max_regs_inc<240>();
              });
}

TEST_P(Hazards, E0010BarrierOfTwoCounts) {
  expect({.code = "E0010", .object = "named barrier 3 of CTA 0", .part = "for 32 threads and for"},
         []<bool Broken>(memory, args) {
           if (Broken && warp_id() == 3) named_barrier_sync(3, 32);  // now
           named_barrier_sync(3, 128);                               // earlier
         });
}

TEST_P(Hazards, E0010BarrierIdOutOfRange) {
  expect({.code = "E0010", .object = "named barrier 16", .part = "ids run from 0 to 15"},
         []<bool Broken>(memory, args) {
           named_barrier_sync(Broken ? 16 : 15, 128);  // now
         });
}

TEST_P(Hazards, E0011EndWithAStoreUnderWay) {
  expect({.code = "E0011", .part = "that it never waited for"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], 0);
    s.full[0].wait(0);
    if (thread_id() != 0) return;
    tma_store(p.inner, s.a[0], tma_coord{64, 0});  // now
    tma_store_commit();
    if (!Broken) tma_store_wait_read<0>();
  });
}

TEST_P(Hazards, E0012EndWithAMultiplyUnderWay) {
  expect({.code = "E0012", .part = "1 wgmma groups that it never waited for"},
         []<bool Broken>(memory s, args p) {
           accumulator<64> acc;
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           wgmma_fence(acc);
           multiply(acc, operand(s.a[0]), operand(s.a[0]));
           wgmma_commit();  // now
           if (!Broken) wgmma_wait<0>(acc);
         });
}

TEST_P(Hazards, E0013CoordinatesOfAnotherRank) {
  expect({.code = "E0013", .part = "3 coordinates for a tensor map of rank 2"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           if (thread_id() == 0) {
             s.full[0].arrive_expect_tx(8192);
             if (Broken) tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0, 0});  // now
             tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
           }
           s.full[0].wait(0);
         });
}

TEST_P(Hazards, E0014ArriveThatPublishesNothing) {
  expect<128, 2>({.code = "E0014", .part = "with relaxed.cluster order"},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   if (cluster_rank() == 0 && thread_id() == 0) {
                     *dsmem(s.x, 1) = 7;                              // earlier
                     if (Broken) s.full[0].arrive_remote_relaxed(1);  // now
                     if (!Broken) s.full[0].arrive_remote<scope::cluster>(1);
                   }
                   if (cluster_rank() == 1) s.full[0].wait<scope::cluster>(0);
                   cluster_sync();
                 });
}

// The peer reads what a thread has written before an arrive that orders nothing between CTAs.
TEST_P(Hazards, E0024ArriveOfTooSmallAScope) {
  expect<128, 2>(
      {.code = "E0024", .part = "has scope::cta: it counts, but orders no memory access"},
      []<bool Broken>(memory s, args) {
        make_barriers(s);
        if (cluster_rank() == 0 && thread_id() == 0) {
          s.x[5] = 7;  // earlier
          s.full[0].arrive_remote<Broken ? scope::cta : scope::cluster>(1);
        }
        if (cluster_rank() == 1 && thread_id() == 0) {
          s.full[0].wait<scope::cluster>(0);
          s.x[6] = dsmem(s.x, 0)[5];  // now
        }
        cluster_sync();
      });
}

TEST_P(Hazards, E0061TwoArrivesAtTheClusterBarrier) {
  expect<128, 2>({.code = "E0061", .part = "arrives at the cluster barrier twice"},
                 []<bool Broken>(memory, args) {
                   cluster_arrive();  // earlier
                   if (!Broken) cluster_wait();
                   cluster_arrive();  // now
                   cluster_wait();
                 });
}

TEST_P(Hazards, E0061WaitForTheClusterBarrierWithoutAnArrive) {
  expect<128, 2>({.code = "E0061", .part = "without an arrive"}, []<bool Broken>(memory, args) {
    cluster_arrive();
    cluster_wait();
    if (!Broken) cluster_arrive();
    cluster_wait();  // now
  });
}

TEST_P(Hazards, E0015TooFewBytesExpected) {
  expect({.code = "E0015",
          .object = "full[0]",
          .phase = 0,
          .part = "8192, not 4096",
          .by_thread = false},
         []<bool Broken>(memory s, args p) {
           if (thread_id() == 0) {
             s.full[0].init(1);  // now
             fence_mbarrier_init();
           }
           cta_sync();
           if (thread_id() == 0) {
             s.full[0].arrive_expect_tx(Broken ? 4096 : 8192);
             tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});
           }
           s.full[0].wait(0);
         });
}

TEST_P(Hazards, E0016AccessToACtaThatEnded) {
  expect<128, 2>({.code = "E0016", .part = "of CTA 1, which has ended"},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   if (cluster_rank() == 1 && Broken) return;
                   for (int i = 0; i < 40; ++i) cta_sync();
                   if (cluster_rank() == 0 && thread_id() == 0) s.full[0].arrive_remote(1);  // now
                   cluster_sync();
                 });
}

TEST_P(Hazards, E0019BarrierOfNoArrivals) {
  expect({.code = "E0019", .object = "full[0]", .part = "requests 0 arrivals"},
         []<bool Broken>(memory s, args) {
           if (thread_id() == 0) s.full[0].init(Broken ? 0 : 1);  // now
         });
}

TEST_P(Hazards, E0020OperandPastTheEnd) {
  expect({.code = "E0020", .part = "do not describe operands in shared memory"},
         []<bool Broken>(memory s, args p) {
           accumulator<64> acc;
           make_barriers(s);
           load(s, p, s.b[1], 0);
           s.full[0].wait(0);
           wgmma_fence(acc);
           multiply(acc, operand(s.b[1]), operand(s.b[1], Broken ? 16384 : 1024));  // now
           wgmma_commit();
           wgmma_wait<0>(acc);
         });
}

TEST_P(Hazards, E0021LanesOfTwoShapes) {
  expect({.code = "E0021", .part = "x2 at"}, []<bool Broken>(memory s, args) {
    std::uint64_t* const row = s.a[0] + 2 * thread_id();
    if (Broken && lane_id() == 31)
      stmatrix<2>(row, b32<2>{});  // now
    else
      stmatrix<4>(row, b32<4>{});  // earlier
  });
}

TEST_P(Hazards, E0022RowThatIsNotAligned) {
  expect({.code = "E0022", .object = "a[0]+0x8", .part = "not aligned to 16 bytes"},
         []<bool Broken>(memory s, args) {
           stmatrix<4>(s.a[0] + 2 * thread_id() + (Broken ? 1 : 0), b32<4>{});  // now
         });
}

TEST_P(Hazards, E0023CoordinateInsideAChunk) {
  expect({.code = "E0023", .part = "16 bytes"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], Broken ? 4 : 8);  // now
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0033InitWithoutItsFence) {
  expect({.code = "E0033",
          .object = "full[0]",
          .phase = 0,
          .part = "missing: fence_mbarrier_init() after the init"},
         []<bool Broken>(memory s, args p) {
           if (thread_id() == 0) {
             s.full[0].init(1);  // earlier
             if (!Broken) fence_mbarrier_init();
           }
           cta_sync();
           load(s, p, s.a[0], 0);  // now
           s.full[0].wait(0);
         });
}

TEST_P(Hazards, E0034WaitForTheSamePhaseTwice) {
  expect({.code = "E0034",
          .object = "full[0]",
          .phase = 0,
          .part = "for phase 0, whose end the thread has seen before"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0, 0);
           s.full[0].wait(0);
           cta_sync();
           if (Broken) s.full[0].wait(0);  // now
           cta_sync();
           load(s, p, s.a[0], 0, 0);
           if (!Broken) s.full[0].wait(1);
         });
}

// The newer phase has one of its two arrivals and no copy.
TEST_P(Hazards, E0034WhereTheNewerPhaseHasPlainArrivalsAlone) {
  expect({.code = "E0034",
          .object = "full[0]",
          .phase = 0,
          .part = "for phase 0, whose end the thread has seen before"},
         []<bool Broken>(memory s, args) {
           if (thread_id() == 0) {
             s.full[0].init(2);
             fence_mbarrier_init();
           }
           cta_sync();
           if (thread_id() == 0 || thread_id() == 32) s.full[0].arrive();
           if (thread_id() == 64) s.full[0].wait(0);
           cta_sync();
           if (thread_id() == 32) s.full[0].arrive();
           cta_sync();
           if (Broken && thread_id() == 64) s.full[0].wait(0);  // now
           cta_sync();
           if (thread_id() == 0) s.full[0].arrive();
           if (!Broken && thread_id() == 64) s.full[0].wait(1);
         });
}

// A tile that stays: each turn waits for the phase that filled it. PTX allows to test the phase
// that is complete as often as one likes.
TEST_P(Hazards, E0034NotForAPhaseThatStaysTheNewest) {
  expect({.code = "E0034", .object = "full[1]", .part = "whose end the thread has seen before"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0, 0);
           for (std::uint32_t turn = 0; turn < 3; ++turn) {
             s.full[0].wait(0);
             load(s, p, s.b[0], 64, 1);
             if (!Broken || turn < 2) s.full[1].wait(turn & 1U);
             fence_proxy_async();
             cta_sync();
             if (Broken && turn == 1) s.full[1].wait(1);  // now
             cta_sync();
           }
         });
}

// Thread 0 waits; thread 32 arrives twice without waiting until thread 0 has seen the first.
TEST_P(Hazards, E0035PhaseThatAWaitCanMiss) {
  expect({.code = "E0035", .object = "full[0]", .phase = 0, .part = "phase 1 is over too"},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           if (thread_id() == 0) {
             s.full[0].wait(0);  // now
             s.empty[0].arrive();
             if (!Broken) s.full[0].wait(1);
           }
           if (thread_id() == 32) {
             s.full[0].arrive();
             if (!Broken) s.empty[0].wait(0);
             s.full[0].arrive();
           }
         });
}

TEST_P(Hazards, E0036ExitBeforeAPeersArrive) {
  expect<128, 2>(
      {.code = "E0036", .object = "empty[0] of CTA 1", .part = "cluster_sync() as the last act"},
      []<bool Broken>(memory s, args) {
        make_barriers(s);
        if (cluster_rank() == 0 && thread_id() == 0) s.empty[0].arrive_remote(1);  // now
        if (!Broken) cluster_sync();
      });
}

alignas(16) float const source[4 * 128] = {};

/// An mbarrier that begins 4 bytes past a multiple of 8, or where it should.
template <bool Broken>
mbarrier& barrier_at(hazard_smem& s) {
  return *reinterpret_cast<mbarrier*>(reinterpret_cast<char*>(s.b[0]) + (Broken ? 4 : 8));
}

TEST_P(Hazards, E0047InitOfAnMbarrierThatIsNotAligned) {
  expect({.code = "E0047", .part = "an mbarrier of 8 bytes is not a multiple of 8"},
         []<bool Broken>(memory s, args) {
           mbarrier& bar = barrier_at<Broken>(s);
           if (thread_id() == 0) {
             bar.init(1);  // now
             fence_mbarrier_init();
           }
           cta_sync();
         });
}

/// A function that takes the address of an mbarrier; `at` alone is not a multiple of 8.
template <int Way>
void use_barrier(hazard_smem& s, hazard_params const& p, mbarrier& at, mbarrier& other) {
  other.arrive_expect_tx(Way == 4 ? 8192 : 0);
  if (Way == 0) at.arrive();
  if (Way == 1) at.expect_tx(8);
  if (Way == 2) at.wait(0);
  if (Way == 3) (void)at.try_wait(0);
  if (Way == 4) tma_load(s.a[0], p.inner, at, tma_coord{0, 0});
  if (Way == 5) cp_async_mbarrier_arrive(at);
  if (Way == 6) at.arrive_remote<scope::cluster>(0);
  if (Way == 7) at.inval();
  if (Way == 8) (void)at.arrive_token();
}

template <int Way>
emu::report use_of_odd_barrier(int schedule) {
  return run_body<true>(
      []<bool Broken>(memory s, args p) {
        make_barriers(s);
        if (thread_id() == 0) use_barrier<Way>(s, p, barrier_at<Broken>(s), s.full[0]);
      },
      scheduled(schedule));
}

TEST_P(Hazards, E0047EveryUseOfAnMbarrier) {
  auto const all = [&]<int... Way>(std::integer_sequence<int, Way...>) {
    for (emu::report const& r : {use_of_odd_barrier<Way>(GetParam())...}) {
      ASSERT_FALSE(r.clean());
      EXPECT_EQ(r.diagnoses.front().code, "E0047") << r.text();
    }
  };
  all(std::make_integer_sequence<int, 9>{});
}

TEST_P(Hazards, E0047CopyToAnAddressThatIsNotAligned) {
  expect({.code = "E0047", .part = "lies 4 bytes past one"}, []<bool Broken>(memory s, args) {
    cp_async<16>(s.x + 4 * thread_id() + (Broken ? 1 : 0), source + 4 * thread_id());  // now
    cp_async_commit();
    cp_async_wait<0>();
  });
}

auto const from_registers = []<bool Broken>(memory s, args p) {
  accumulator<64> acc;
  make_barriers(s);
  load(s, p, s.a[0], 0);
  s.full[0].wait(0);
  b32<4> a{{1, 2, 3, 4}};
  wgmma_fence(acc);
  wgmma<elem::bf16, operand_major::k>(acc, a, operand(s.a[0]), false);  // earlier
  wgmma_commit();
  if (!Broken) wgmma_wait<0>(acc);
  a.r[2] = 7;  // now
  if (Broken) wgmma_wait<0>(acc);
  wgmma<elem::bf16, operand_major::k>(acc, a, operand(s.a[0]), false);
  wgmma_commit();
  wgmma_wait<0>(acc);
};
TEST_P(Hazards, E0048RegistersOfAOverwritten) {
  expect({.code = "E0048", .object = "A of warpgroup 0", .part = "group 0 of warpgroup 0"},
         from_registers);
}

// The registers belong to no warpgroup once they are handed over without a name.
TEST_P(Hazards, E0048NotOfAValueWithoutAName) {
  auto const body = []<bool>(memory s, args p) {
    accumulator<64> acc;
    make_barriers(s);
    load(s, p, s.a[0], 0);
    s.full[0].wait(0);
    wgmma_fence(acc);
    for (std::uint32_t i = 0; i < 3; ++i)
      wgmma<elem::bf16, operand_major::k>(acc, b32<4>{{i, i, i, i}}, operand(s.a[0]), i > 0);
    wgmma_commit();
    wgmma_wait<0>(acc);
  };
  emu::report const r = run_body<true>(body, scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

template <int Bytes>
struct sized {
  using params = int;
  static constexpr int threads = 32, cluster = 2, smem_bytes = Bytes;
  static void run(int const&) {}
};

TEST(HazardLaunch, E0017TooMuchSharedMemory) {
  auto const expect = [](emu::report const& r, char const* code) { EXPECT_TRUE(r.has(code)); };
  EXPECT_TRUE(emu::run(sized<227 * 1024>{}, 2, 0).clean());
  expect(emu::run(sized<227 * 1024 + 16>{}, 2, 0), "E0017");
}

TEST(HazardLaunch, E0018CtasThatFillNoCluster) {
  auto const expect = [](emu::report const& r, char const* code) { EXPECT_TRUE(r.has(code)); };
  EXPECT_TRUE(emu::run(sized<16>{}, 4, 0).clean());
  expect(emu::run(sized<16>{}, 3, 0), "E0018");
}

}  // namespace
}  // namespace tw::test
