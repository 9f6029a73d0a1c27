// SPDX-License-Identifier: Apache-2.0
// atomics_test.cpp  The order that atomic operations on shared and global memory give;
//                   thread fences of every thread before one relaxed write.
#include "tests/hazard/protocol.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using protocol_args = protocol_params const&;

std::uint32_t* word(hazard_smem& s, int i) { return reinterpret_cast<std::uint32_t*>(&s.x[i]); }

TEST_P(Protocol, AtomicsOfOneWordOfSharedMemory) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (thread_id() < 4) *word(s, thread_id()) = 0;
    cta_sync();
    atomic_add<mem_order::relaxed, scope::cta>(word(s, thread_id() % 4), 1);
    red_max<mem_order::relaxed, scope::cta>(word(s, thread_id() % 4), thread_id());
    load_relaxed<scope::cta>(word(s, 1));
    cta_sync();
    s.x[4 + thread_id()] = s.x[thread_id() % 4];
  });
}

/// docs/decisions/0037: a race, whatever is written; one atomic instruction is none.
TEST_P(Protocol, AllThreadsStoreOneValue) {
  expect("E0024", "x of CTA 0", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) *word(s, 0) = 0;
    cta_sync();
    if (Broken)
      *word(s, 0) = 1;
    else
      red_or<mem_order::relaxed, scope::cta>(word(s, 0), 1);
    cta_sync();
    s.x[1 + thread_id()] = s.x[0];
  });
}

TEST_P(Protocol, AFlagInSharedMemoryIsAnOrdinaryVariable) {
  expect("E0024", "x of CTA 0", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) *word(s, 0) = 0;
    cta_sync();
    if (thread_id() == 0) {
      s.x[1] = 5;
      fence_acq_rel<scope::cta>();
      if (Broken)
        *const_cast<std::uint32_t volatile*>(word(s, 0)) = 1;
      else
        store_release<scope::cta>(word(s, 0), 1U);
    }
    if (thread_id() == 64) {
      while (load_acquire<scope::cta>(word(s, 0)) == 0) backoff();
      s.x[2] = s.x[1];
    }
  });
}

TEST_P(Protocol, AtomicBesideAnOrdinaryLoad) {
  expect("E0024", "An ordinary load reads x of CTA 0", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.x[0] = 0;
    cta_sync();
    if (thread_id() < 32) red_add<mem_order::relaxed, scope::cta>(word(s, 0), 1);
    if (Broken) warp_sync();
    if (!Broken) cta_sync();
    if (thread_id() == 64) s.x[1] = s.x[0];
  });
}

TEST_P(Protocol, AtomicOnMemoryThatNoThreadHasWritten) {
  expect("E0029", "An atomic operation changes x of CTA 0",
         []<bool Broken>(memory s, protocol_args) {
           if (!Broken && thread_id() == 0) s.x[0] = 0;
           cta_sync();
           atomic_add<mem_order::relaxed, scope::cta>(word(s, 0), 1);
         });
}

TEST_P(Protocol, AtomicsThenATmaStore) {
  expect("E0025", "changed atomically", []<bool Broken>(memory s, protocol_args p) {
    fill(s.a[0]);
    fence_proxy_async();
    cta_sync();
    red_add<mem_order::relaxed, scope::cta>(reinterpret_cast<std::uint32_t*>(s.a[0]) + thread_id(),
                                            0);
    if (!Broken) fence_proxy_async();
    cta_sync();
    store_box(s, p);
  });
}

TEST_P(Protocol, LockInSharedMemory) {
  expect("E0024", "x+0x4", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.x[0] = s.x[1] = 0;
    cta_sync();
    if (lane_id() != 0) return;
    constexpr mem_order taken = Broken ? mem_order::relaxed : mem_order::acquire;
    while (atomic_cas<taken, scope::cta>(word(s, 0), 0, 1) != 0) backoff();
    s.x[1] = s.x[1] + 1;
    store_release<scope::cta>(word(s, 0), 0U);
  });
}

/// A spin without backoff() lets the others run too.
TEST_P(Protocol, SpinOnAnExchangeOfSharedMemory) {
  expect_clean([]<bool>(memory s, protocol_args) {
    if (thread_id() == 0) s.x[0] = s.x[1] = 0;
    cta_sync();
    if (lane_id() != 0) return;
    while (atomic_exch<mem_order::acquire, scope::cta>(word(s, 0), 1) != 0) {
    }
    s.x[1] = s.x[1] + 1;
    atomic_exch<mem_order::release, scope::cta>(word(s, 0), 0);
  });
}

/// A flag in shared memory carries the proxy fence of its writer along.
/// Lanes that poll do not keep other lanes and other CTAs from running.
TEST_P(Protocol, EveryThreadPollsAFlagOfAnotherCta) {
  expect_clean(
      []<bool>(memory, protocol_args p) {
        if (cta_id() == 1 && thread_id() == 40) store_release(p.words, 1U);
        if (cta_id() == 0)
          while (load_acquire(p.words) == 0) backoff();
      },
      2);
}

TEST_P(Protocol, FlagInSharedMemoryBeforeATmaStore) {
  expect("E0025", "a[0]", []<bool Broken>(memory s, protocol_args p) {
    if (thread_id() == 0) s.x[0] = 0;
    cta_sync();
    if (thread_id() == 32) {
      for (int i = 0; i < 1024; ++i) s.a[0][i] = 0;
      if (!Broken) fence_proxy_async();
      store_release<scope::cta>(word(s, 0), 1);
    }
    if (thread_id() != 0) return;
    while (load_acquire<scope::cta>(word(s, 0)) == 0) backoff();
    store_box(s, p);
  });
}

TEST_P(Protocol, CounterOfTheClusterWithTheScopeOfACta) {
  expect<32, 2>("E0024", "does not hold the other's CTA", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.x[0] = 0;
    cluster_sync();
    atomic_add<mem_order::relaxed, Broken ? scope::cta : scope::cluster>(dsmem(word(s, 0), 0), 1);
    cluster_sync();
  });
}

TEST_P(Protocol, CounterOfTheGridWithTheScopeOfACta) {
  expect(
      "E0042", "does not hold the other's CTA",
      []<bool Broken>(memory, protocol_args p) {
        red_add<mem_order::relaxed, Broken ? scope::cta : scope::gpu>(p.words, 1);
      },
      2);
}

TEST_P(Protocol, AtomicOnAPeerThatHasEnded) {
  expect<32, 2>("E0016", "which has ended", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.x[0] = 0;
    cluster_sync();
    if (cluster_rank() == 0) {
      for (int i = 0; i < 200 && Broken; ++i) backoff();
      atomic_add<mem_order::relaxed, scope::cluster>(dsmem(word(s, 0), 1), 1);
    }
    if (!Broken) cluster_sync();
  });
}

enum class handover { release, fence_by_one_after, fence_by_all_before, nothing };

/// CTA 0 writes, CTA 1 reads after it has seen the flag.
template <bool Sequential>
void all_fence() {
  if constexpr (Sequential)
    fence_sc();
  else
    fence_acq_rel();
}
template <handover How, bool Sequential>
void hand_over(protocol_args p) {
  if (cta_id() == 0) {
    p.floats[thread_id()] = 1;
    if (How == handover::fence_by_all_before) all_fence<Sequential>();
    cta_sync();
    if (thread_id() != 0) return;
    if (How == handover::fence_by_one_after) all_fence<Sequential>();
    if (How == handover::release)
      red_add_release(p.words, 1);
    else
      red_add(p.words, 1);
  } else {
    if (thread_id() == 0)
      while (load_acquire(p.words) == 0) backoff();
    cta_sync();
    p.floats[1000 + thread_id()] = p.floats[127 - thread_id()];
  }
}

TEST_P(Protocol, SequentialFenceOfEveryThread) {
  expect(
      "E0042", "without release",
      []<bool Broken>(memory, protocol_args p) {
        hand_over<Broken ? handover::nothing : handover::fence_by_all_before, true>(p);
      },
      2);
}

/// PTX ISA, "Release and Acquire Patterns": a fence.acq_rel makes a release pattern with a later
/// write of the same thread; what other threads write before the barrier after it is not in it.
TEST_P(Protocol, AcqRelFenceOfEveryThreadBeforeTheBarrier) {
  expect(
      "E0042", "nothing orders the two",
      []<bool Broken>(memory, protocol_args p) {
        hand_over<Broken ? handover::fence_by_all_before : handover::fence_by_one_after, false>(p);
      },
      2);
}

TEST_P(Protocol, SequentialFenceOfTheWrongScope) {
  expect(
      "E0042", "nothing orders the two",
      []<bool Broken>(memory, protocol_args p) {
        if (cta_id() == 0) {
          p.floats[thread_id()] = 1;
          fence_sc<Broken ? scope::cta : scope::gpu>();
          cta_sync();
          if (thread_id() == 0) red_add(p.words, 1);
        } else if (thread_id() == 0) {
          while (load_relaxed(p.words) == 0) backoff();
          fence_sc();
          p.floats[1000] = p.floats[100];
        }
      },
      2);
}

/// The usual end of a sum over CTAs: all threads of the last CTA run the fence, after a barrier.
TEST_P(Protocol, SequentialFenceOfEveryReader) {
  auto const last_cta = []<bool Broken>(memory s, protocol_args p) {
    p.floats[128 * cta_id() + thread_id()] = 1;
    fence_sc();
    cta_sync();
    if (thread_id() == 0) s.tensor_at = atomic_add<mem_order::relaxed>(p.words, 1U);
    cta_sync();
    if (s.tensor_at != 2) return;
    if (Broken)
      fence_acq_rel();
    else
      fence_sc();
    for (int cta = 0; cta < 3; ++cta)
      p.floats[1000 + thread_id()] += p.floats[128 * cta + 127 - thread_id()];
  };
  expect("E0042", "without acquire", last_cta, 3);
}

TEST_P(Protocol, SequentialFenceOfReadersWhoseWritersReleaseOnly) {
  expect(
      "E0042", "nothing orders the two",
      []<bool Broken>(memory s, protocol_args p) {
        if (cta_id() == 0) {
          p.floats[thread_id()] = 1;
          cta_sync();
          if (thread_id() == 0) red_add_release(p.words, 1);
        } else {
          if (thread_id() == 0)
            while ((Broken ? load_relaxed(p.words) : load_acquire(p.words)) == 0) backoff();
          cta_sync();
          fence_sc();
          s.x[thread_id()] = p.floats[127 - thread_id()];
        }
      },
      2);
}

/// The atomic addition that follows does not hide the ordinary store.
TEST_P(Protocol, OrdinaryStoreBeforeAnAtomicOfTheSameThread) {
  expect("E0024", "tensor_at", []<bool Broken>(memory s, protocol_args) {
    if (thread_id() == 0) s.tensor_at = 0;
    if (!Broken) cta_sync();
    atomic_add<mem_order::relaxed, scope::cta>(&s.tensor_at, 1U);
    cta_sync();
    s.x[thread_id()] = static_cast<float>(s.tensor_at);
  });
}

/// A fence that only some of the writers run.
TEST_P(Protocol, SequentialFenceOfSomeThreads) {
  expect(
      "E0042", "nothing orders the two",
      []<bool Broken>(memory, protocol_args p) {
        if (cta_id() == 0) {
          p.floats[thread_id()] = 1;
          if (!Broken || thread_id() < 64) fence_sc();
          cta_sync();
          if (thread_id() == 0) red_add(p.words, 1);
        } else if (thread_id() == 0) {
          while (load_acquire(p.words) == 0) backoff();
          p.floats[1000] = p.floats[100];
        }
      },
      2);
}

/// A counter of work lies between the CTAs too, and is used last: the cause names the flag that is
/// polled, at the line where release or acquire is missing.
constexpr int flag_store_line = __LINE__ + 7, flag_load_line = __LINE__ + 12;
template <bool Release, bool Acquire>
void through_a_flag_and_a_counter(protocol_args p) {
  if (thread_id() != 0) return;
  if (cta_id() == 0) {
    p.floats[0] = 1;
    atomic_add<mem_order::relaxed>(p.words, 1);
    if (!Release) store_relaxed(p.words + 1, 1U);
    if (Release) store_release(p.words + 1, 1U);
    atomic_add<mem_order::relaxed>(p.words, 1);
  } else {
    if (!Acquire)
      while (load_relaxed(p.words + 1) == 0) backoff();
    if (Acquire)
      while (load_acquire(p.words + 1) == 0) backoff();
    while (atomic_add<mem_order::relaxed>(p.words, 0) < 2) backoff();
    p.floats[8] = p.floats[0];
  }
}
TEST_P(Protocol, CauseNamesTheFlagWithoutReleaseNotTheWorkCounter) {
  std::string const line =
      "atomics_test.cpp:" + std::to_string(flag_store_line) + " without release";
  expect(
      "E0042", line.c_str(),
      []<bool Broken>(memory, protocol_args p) { through_a_flag_and_a_counter<!Broken, true>(p); },
      2);
}
TEST_P(Protocol, CauseNamesTheFlagWithoutAcquireNotTheWorkCounter) {
  std::string const line =
      "atomics_test.cpp:" + std::to_string(flag_load_line) + " without acquire";
  expect(
      "E0042", line.c_str(),
      []<bool Broken>(memory, protocol_args p) { through_a_flag_and_a_counter<true, !Broken>(p); },
      2);
}

}  // namespace
}  // namespace tw::test
