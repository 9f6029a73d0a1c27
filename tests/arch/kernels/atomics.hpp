// SPDX-License-Identifier: Apache-2.0
// atomics.hpp  Kernels of atomic operations on global memory, shared memory and a peer's.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::test {

enum class where_words { global, shared, peer };

/// Threads of two CTAs apply each operation to a separate word: sums, extremes, bits, a
/// ticket by compare-and-swap and one by exchange.
template <class T, where_words Where>
struct atomic_kernel {
  static constexpr int words = 10;
  struct params {
    T const* in;   // a value per thread of the grid
    T* out;        // `words`
    T const* old;  // their first values
  };
  static constexpr int threads = 96, cluster = 2;
  struct smem {
    T word[words];
  };
  static constexpr int smem_bytes = sizeof(smem);
  static constexpr scope reach = Where == where_words::global ? scope::gpu : scope::cluster;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() < words) s.word[thread_id()] = p.old[thread_id()];
    cluster_sync();
    // Shared memory of the first CTA; without peers each CTA has its share and CTA 0 is looked at.
    T* const w = Where == where_words::global   ? p.out
                 : Where == where_words::shared ? s.word
                                                : dsmem(s.word, 0);
    bool const takes_part = Where != where_words::shared || cluster_rank() == 0;
    if (takes_part) {
      T const x = p.in[cta_id() * threads + thread_id()];
      atomic_add<mem_order::relaxed, reach>(w, x);
      red_add<mem_order::relaxed, reach>(w + 1, x);
      T seen = load_relaxed<reach>(w + 2);  // adds 1 as a loop of compare-and-swap
      for (T old = seen;; seen = old) {
        old = atomic_cas<mem_order::relaxed, reach>(w + 2, seen, static_cast<T>(seen + 1));
        if (old == seen) break;
      }
      T const was = atomic_exch<mem_order::relaxed, reach>(w + 3, x);
      atomic_add<mem_order::relaxed, reach>(w + 4, was);  // all that were exchanged out
      if constexpr (std::is_integral_v<T>) {
        atomic_min<mem_order::relaxed, reach>(w + 5, x);
        red_max<mem_order::relaxed, reach>(w + 6, x);
        atomic_and<mem_order::relaxed, reach>(w + 7, static_cast<T>(x | 1));
        red_or<mem_order::relaxed, reach>(w + 8, x);
        atomic_xor<mem_order::relaxed, reach>(w + 9, x);
      }
    }
    cluster_sync();
    if (Where != where_words::global && cluster_rank() == 0 && thread_id() < words)
      p.out[thread_id()] = s.word[thread_id()];
  }
};

/// Packed additions, whose operands are multiples of 1/8: exact in any order.
template <class T>
struct packed_atomic_kernel {
  struct params {
    T const* in;
    T* out;  // global, then shared memory
  };
  static constexpr int threads = 64, cluster = 1;
  struct smem {
    T word;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) s.word = T{0};
    cta_sync();
    T const x = p.in[thread_id()];
    red_add(p.out, x);
    atomic_add<mem_order::relaxed, scope::cta>(&s.word, x);
    cta_sync();
    if (thread_id() == 0) p.out[1] = s.word;
  }
};

/// A lock in shared memory, held by one thread of each warp in turn, around an ordinary counter;
/// and a float flag, whose value must arrive unchanged.
struct lock_kernel {
  struct params {
    int* out;
    float* flag;
  };
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    int lock, count;
    float flag;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) s.lock = 0, s.count = 0, s.flag = 0.0F;
    cta_sync();
    if (lane_id() == 0) {
      for (int turn = 0; turn < 10; ++turn) {
        while (atomic_cas<mem_order::acquire, scope::cta>(&s.lock, 0, 1) != 0) backoff();
        s.count = s.count + 1;
        store_release<scope::cta>(&s.lock, 0);
      }
    }
    if (thread_id() == 0) store_release<scope::cta>(&s.flag, 0.25F);
    if (thread_id() == 32) {
      while (load_acquire<scope::cta>(&s.flag) != 0.25F) backoff();
      store_release(p.flag, 0.25F);
    }
    cta_sync();
    if (thread_id() == 0) *p.out = s.count;
  }
};

}  // namespace tw::test
