// SPDX-License-Identifier: Apache-2.0
// protocol_test.cpp  Protocols between threads, copies and memory, one rule at a time.
#include "tests/hazard/protocol.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using protocol_args = protocol_params const&;

// Barriers are instructions of whole warps, of the threads that have not ended.

TEST_P(Protocol, LanesAtTwoNamedBarriers) {
  expect("E0053", "named_barrier_sync 2", []<bool Broken>(memory, protocol_args) {
    bool const first = Broken ? lane_id() < 16 : warp_id() < 2;
    if (first)
      named_barrier_sync(1, 64);
    else
      named_barrier_sync(2, 64);
  });
}

TEST_P(Protocol, LanesAtTwoCtaSyncs) {
  expect("E0053", "cta_sync at", []<bool Broken>(memory, protocol_args) {
    if (Broken && lane_id() == 5)
      cta_sync();
    else
      cta_sync();
  });
}

TEST_P(Protocol, LanesAtTheClusterBarrierAndAtAnother) {
  expect<128, 2>("E0053", "cluster_arrive", []<bool Broken>(memory, protocol_args) {
    if (!Broken || lane_id() % 2 == 0) cluster_arrive();
    cta_sync();
    if (Broken && lane_id() % 2 == 1) cluster_arrive();
    cluster_wait();
  });
}

TEST_P(Protocol, CtaSyncWithoutWarpsThatHaveEnded) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (warp_id() == 2) return;
    s.x[thread_id()] = 1;
    cta_sync();
    s.a[0][thread_id()] = static_cast<std::uint64_t>(s.x[thread_id() ^ 1]);
    if (warp_id() == 3) return;
    cta_sync();
  });
}

TEST_P(Protocol, WarpSyncWithoutLanesThatHaveEnded) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (lane_id() >= 20) return;
    s.x[thread_id()] = 1;
    warp_sync();
    s.a[0][thread_id()] = static_cast<std::uint64_t>(s.x[thread_id() ^ 1]);
  });
}

TEST_P(Protocol, CtaSyncOfAnyNumberOfThreads) {
  auto const exchange = []<bool>(memory s, protocol_args) {
    s.x[thread_id()] = 1;
    cta_sync();
    s.a[0][thread_id()] = static_cast<std::uint64_t>(s.x[thread_count() - 1 - thread_id()]);
  };
  (expect_clean<48>)(exchange);
  (expect_clean<1>)(exchange);
}

TEST_P(Protocol, NamedBarrierStillCountsThreadsThatHaveEnded) {
  expect("E0001", "named barrier 1", []<bool Broken>(memory, protocol_args) {
    if (Broken && warp_id() == 2) return;
    named_barrier_sync(1, 128);
  });
}

// Accumulators hold nothing until they are set.

TEST_P(Protocol, FirstWgmmaAccumulates) {
  expect("E0054", "never set", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
    accumulator<64> acc;
    wgmma_fence(acc);
    wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, operand(s.a[0]), operand(s.a[0]),
                                                          Broken);
    wgmma_commit();
    wgmma_wait<0>(acc);
  });
}

TEST_P(Protocol, SecondAccumulatorIsNotZeroed) {
  expect("E0054", "never set", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
    accumulator<64> first, second;
    for (int i = 0; i < 32; ++i) first[i] = 0;
    for (int i = 0; i < 32; ++i)
      if (!Broken) second[i] = 0;
    wgmma_fence(first, second);
    for (accumulator<64>* const acc : {&first, &second})
      wgmma<elem::bf16, operand_major::k, operand_major::k>(*acc, operand(s.a[0]), operand(s.a[0]),
                                                            true);
    wgmma_commit();
    wgmma_wait<0>(first, second);
  });
}

TEST_P(Protocol, AccumulatorThatIsSetInPartGivesNaN) {
  expect_clean([]<bool>(memory s, protocol_args) {
    accumulator<64> acc;
    acc[0] = 1;
    s.x[thread_id()] = acc[0];
    if (!(acc[1] != acc[1])) s.x[512] = s.x[513];  // E0029 if it were a number
  });
}

// Instructions of one state space; addresses are multiples of the size.

TEST_P(Protocol, AtomicAddOnAVariableOfTheThread) {
  expect("E0055", "An atomic operation is given a variable",
         []<bool Broken>(memory s, protocol_args p) {
           std::uint32_t own = 0;
           atomic_add<mem_order::relaxed>(Broken ? &own : p.words, 1);
           s.x[thread_id()] = static_cast<float>(own);
         });
}

TEST_P(Protocol, PollOfAVariableOfTheThread) {
  expect("E0055", "An atomic load is given a variable", []<bool Broken>(memory s, protocol_args p) {
    std::uint32_t own = 0;
    s.x[thread_id()] = static_cast<float>(load_acquire(Broken ? &own : p.words));
  });
}

TEST_P(Protocol, LoadOf16BytesOfSharedMemory) {
  expect("E0055", "global memory and is given x of CTA 0",
         []<bool Broken>(memory s, protocol_args p) {
           s.x[thread_id()] = 0;
           void const* const from = Broken ? static_cast<void const*>(s.x) : p.words;
           if (thread_id() == 0) s.x[0] = static_cast<float>(load_16(from).r[0]);
         });
}

TEST_P(Protocol, CopyFromSharedMemory) {
  expect("E0055", "The source of a cp.async takes", []<bool Broken>(memory s, protocol_args p) {
    if (thread_id() == 0) cp_async<4>(&s.x[8], Broken ? static_cast<void const*>(s.x) : p.words);
    cp_async_commit();
    cp_async_wait<0>();
  });
}

struct alignas(16) four {
  float x[4];
};

TEST_P(Protocol, SixteenBytesOfSharedMemoryAtFour) {
  expect("E0047", "a store of 8 bytes is not a multiple of 8",
         []<bool Broken>(memory s, protocol_args p) {
           auto* const to = reinterpret_cast<four*>(s.x + 4 * thread_id() + (Broken ? 1 : 0));
           *to = reinterpret_cast<four const*>(p.floats)[thread_id()];
         });
}

TEST_P(Protocol, EightBytesOfGlobalMemoryAtFour) {
  expect("E0047", "a load of 8 bytes is not a multiple of 8",
         []<bool Broken>(memory s, protocol_args p) {
           auto const* const from =
               reinterpret_cast<std::uint64_t const*>(p.words + 2 * thread_id() + (Broken ? 1 : 0));
           s.a[0][thread_id()] = *from;
         });
}

TEST_P(Protocol, FourBytesOfSharedMemoryAtTwo) {
  expect("E0047", "a store of 4 bytes", []<bool Broken>(memory s, protocol_args) {
    auto* const bytes = reinterpret_cast<std::byte*>(s.x) + 4 * thread_id() + (Broken ? 2 : 0);
    *reinterpret_cast<float*>(bytes) = 1;
  });
}

// The life of an mbarrier.

TEST_P(Protocol, InitOfAnMbarrierOnceMore) {
  expect("E0056", "which is an mbarrier already", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
    cta_sync();
    if (Broken && thread_id() == 0) s.full[0].init(1);
  });
}

TEST_P(Protocol, InitWhileAPhaseIsOpen) {
  expect("E0056", "whose phase is not complete", []<bool Broken>(memory s, protocol_args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.full[0].expect_tx(16);
      if (Broken) s.full[0].init(1);
      s.full[0].arrive();
      s.full[1].arrive_expect_tx(16);
    }
    cta_sync();
  });
}

TEST_P(Protocol, OrdinaryStoreOverAnMbarrier) {
  expect("E0057", "writes to full[1]", []<bool Broken>(memory s, protocol_args) {
    make_barriers(s);
    auto* const word = reinterpret_cast<std::uint32_t*>(&s.full[1]);
    if (Broken && thread_id() == 3) word[1] = 0;
  });
}

TEST_P(Protocol, TmaLoadOverMbarriers) {
  expect("E0057", "A TMA load writes to", []<bool Broken>(memory s, protocol_args p) {
    auto* const inside = reinterpret_cast<mbarrier*>(&s.b[1][8]);
    make_barriers(s);
    if (thread_id() == 0) {
      inside->init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    load_box(p, Broken ? s.b[1] : s.b[0], s.full[0]);
    s.full[0].wait(0);
  });
}

// Groups that no thread committed.

TEST_P(Protocol, TmaStoreWithoutCommit) {
  expect("E0011", "tma_store_commit() after the stores",
         []<bool Broken>(memory s, protocol_args p) {
           fill(s.a[0]);
           fence_proxy_async();
           cta_sync();
           if (thread_id() != 0) return;
           tma_store(p.inner, s.a[0], tma_coord{0, 0});
           if (!Broken) tma_store_commit();
           tma_store_wait_read<0>();
         });
}

TEST_P(Protocol, BufferOfAnUncommittedTmaStoreIsReused) {
  expect("E0028", "tma_store_commit() after it", []<bool Broken>(memory s, protocol_args p) {
    fill(s.a[0]);
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      tma_store(p.inner, s.a[0], tma_coord{0, 0});
      if (!Broken) tma_store_commit();
      tma_store_wait_read<0>();
    }
    cta_sync();
    fill(s.a[0]);
    if (thread_id() == 0 && Broken) {
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  });
}

TEST_P(Protocol, CpAsyncWithoutCommit) {
  expect("E0045", "cp_async_commit() after it", []<bool Broken>(memory s, protocol_args p) {
    cp_async<16>(&s.a[0][2 * thread_id()], p.floats + 4 * thread_id());
    if (!Broken) cp_async_commit();
    cp_async_wait<0>();
    s.x[thread_id()] = static_cast<float>(s.a[0][2 * thread_id()]);
  });
}

TEST_P(Protocol, WgmmaWithoutCommit) {
  expect("E0030", "wgmma_commit() after the last wgmma",
         []<bool Broken>(memory s, protocol_args p) {
           make_barriers(s);
           load_box(p, s.a[0], s.full[0]);
           s.full[0].wait(0);
           accumulator<64> acc;
           wgmma_fence(acc);
           multiply(acc, operand(s.a[0]), operand(s.a[0]));
           if (!Broken) wgmma_commit();
           wgmma_wait<0>(acc);
           s.x[thread_id()] = acc[0];
         });
}

TEST_P(Protocol, EndWithAWgmmaThatNoThreadCommitted) {
  expect("E0012", "never committed", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
    accumulator<64> acc;
    wgmma_fence(acc);
    multiply(acc, operand(s.a[0]), operand(s.a[0]));
    if (!Broken) wgmma_commit();
    wgmma_wait<0>(acc);
  });
}

// The end of a CTA while bytes are under way to it.

TEST_P(Protocol, EndWithATmaLoadInFlight) {
  expect("E0036", "wait() on that barrier for that phase",
         []<bool Broken>(memory s, protocol_args p) {
           make_barriers(s);
           load_box(p, s.a[0], s.full[0]);
           if (!Broken) s.full[0].wait(0);
         });
}

TEST_P(Protocol, PeerDoesNotWaitForAMulticast) {
  expect<128, 2>("E0036", "waits on its own barrier for that phase",
                 []<bool Broken>(memory s, protocol_args p) {
                   make_barriers(s);
                   if (thread_id() == 0) {
                     s.full[0].arrive_expect_tx(8192);
                     if (cluster_rank() == 0)
                       tma_load_multicast(s.a[0], p.inner, s.full[0], tma_coord{0, 0}, 3);
                   }
                   if (!Broken || cluster_rank() == 0) s.full[0].wait(0);
                   cluster_sync();
                 });
}

// Registers as a protocol of all warpgroups.

TEST_P(Protocol, WarpgroupThatNeverGivesUpItsRegisters) {
  expect<384>("E0008", "never gives up registers", []<bool Broken>(memory, protocol_args) {
    if (warpgroup_id() != 0)
      set_max_regs_inc<232>();
    else if (!Broken)
      set_max_regs_dec<40>();
  });
}

// CTAs that wait for one that has not started; polls without a pause.

TEST_P(Protocol, WaitForACtaThatIsNotResident) {
  auto const chain = []<bool Broken>(memory s, protocol_args p) {
    int const before = Broken ? cta_id() + 1 : cta_id() - 1;
    if (thread_id() == 0 && before >= 0 && before < cta_count())
      while (load_acquire(p.words + before) == 0) {
      }
    cta_sync();
    s.x[thread_id()] = 1;
    if (thread_id() == 0) store_release(p.words + cta_id(), 1);
  };
  emu::options o = scheduled(GetParam());
  o.sms = 2;  // 7 CTAs of 33 KiB on each
  EXPECT_TRUE((run_protocol<false, 128, 1>(chain, 40, o)).clean());
  emu::report const bad = run_protocol<true, 128, 1>(chain, 40, o);
  ASSERT_FALSE(bad.clean());
  EXPECT_EQ(bad.diagnoses.front().code, "E0001");
  EXPECT_NE(bad.diagnoses.front().text.find("which have not started"), std::string::npos)
      << bad.text();
}

TEST_P(Protocol, EveryCtaStoresWhatIsTheLastOnes) {
  expect(
      "E0042", "stores the element in two CTAs",
      []<bool Broken>(memory s, protocol_args p) {
        if (thread_id() == 0)
          s.x[0] = static_cast<float>(
              atomic_add<mem_order::acq_rel, scope::gpu>(p.words, std::uint32_t{1}));
        cta_sync();
        if (Broken || s.x[0] == 1) p.words[8 + thread_id()] = 1;
      },
      2);
}

TEST_P(Protocol, PollWithoutAPause) {
  expect("E0001", "polls for what never comes", []<bool Broken>(memory s, protocol_args p) {
    if (thread_id() == 0)
      while (load_acquire(p.words) == 0) {
      }
    if (thread_id() == 32 && !Broken) store_release(p.words, 1);
    s.x[thread_id()] = 1;
  });
}

INSTANTIATE_TEST_SUITE_P(Schedules, Protocol, testing::Range(0, 4));

}  // namespace
}  // namespace tw::test
