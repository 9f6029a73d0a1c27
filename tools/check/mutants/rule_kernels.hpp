// SPDX-License-Identifier: Apache-2.0
// rule_kernels.hpp  One small kernel for each rule that no larger kernel here exercises: lanes of a
//                   warp at one barrier, data from atomics to TMA, register budgets, CTAs that wait
//                   for each other, the bounds and alignment of arrays, groups that are committed.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class rule_mutation : int {
  none,
  // two_halves
  lanes_at_two_places,
  lane_stays_away,
  lanes_at_two_ids,
  // counts_to_tma
  fence_before_atomics,
  fence_before_stores,
  fence_of_one_thread,
  barrier_at_four,
  // budgets
  too_many_registers,
  no_registers_given,
  chosen_by_warp,
  one_warp_alone,
  increase_to_fewer,
  // chain
  descending_order,
  first_wait_for_last,
  grid_barrier,
  // halo
  one_past_the_end,
  one_before_the_begin,
  rounded_up,
  vector_at_four,
  copy_at_eight,
  vector_in_smem_at_four,
  // groups
  no_copy_commit,
  no_store_commit,
  commit_after_wait,
};

struct rule_params {
  float const* in;  // 1024 elements
  float* out;       // 1024 elements
  unsigned* flag;   // of each CTA
  tensor_map map;   // of `counts`: boxes of 32 x 32
  unsigned* counts;
  rule_mutation broken;

  TW_DEVICE bool is(rule_mutation m) const { return broken == m; }
};

/// Two warps exchange halves of a block through shared memory.
struct two_halves {
  static constexpr int threads = 64, cluster = 1;
  struct smem {
    float x[64];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = rule_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    for (int i = 0; i < 4; ++i) {
      s.x[t] = p.in[64 * i + t];
      if (p.is(rule_mutation::lanes_at_two_places)) {
        if (lane_id() < 20)
          cta_sync();
        else
          cta_sync();
      } else if (p.is(rule_mutation::lanes_at_two_ids)) {
        named_barrier_sync(lane_id() % 2 == 0 ? 1 : 2, 64);
      } else if (!p.is(rule_mutation::lane_stays_away) || t != 37 || i != 2) {
        cta_sync();
      }
      p.out[64 * i + t] = s.x[63 - t];
      cta_sync();
    }
  }
};

/// CTA 0 counts with atomics and with relaxed stores; TMA loads the counts in CTA 1.
struct counts_to_tma {
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    alignas(128) unsigned box[32][32];
    mbarrier landed, unused;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = rule_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    mbarrier& landed = p.is(rule_mutation::barrier_at_four)
                           ? *reinterpret_cast<mbarrier*>(reinterpret_cast<char*>(&s.landed) + 4)
                           : s.landed;
    int const t = thread_id();
    if (cta_id() == 0) {
      if (p.is(rule_mutation::fence_before_atomics)) fence_proxy_async_global();
      if (!p.is(rule_mutation::fence_before_stores))
        for (int i = t; i < 1024; i += threads)
          atomic_add<mem_order::relaxed>(p.counts + i, static_cast<unsigned>(i % 31));
      if (p.is(rule_mutation::fence_before_stores)) {
        fence_proxy_async_global();
        for (int i = t; i < 1024; i += threads)
          store_relaxed(p.counts + i, static_cast<unsigned>(i % 31));
      }
      if (!p.is(rule_mutation::fence_before_atomics) && !p.is(rule_mutation::fence_before_stores) &&
          (!p.is(rule_mutation::fence_of_one_thread) || t == 0))
        fence_proxy_async_global();
      cta_sync();
      if (t == 0) store_release(p.flag, 1U);
      return;
    }
    if (t == 0) {
      landed.init(1);
      fence_mbarrier_init();
      while (load_acquire(p.flag) != 1) backoff();
      landed.arrive_expect_tx(sizeof(s.box));
      tma_load(s.box, p.map, landed, tma_coord<2>{{0, 0}});
    }
    cta_sync();
    landed.wait(0);
    for (int i = t; i < 1024; i += threads) p.out[i] = static_cast<float>(s.box[i / 32][i % 32]);
  }
};

/// A warpgroup that gives registers to two others.
struct budgets {
  static constexpr int threads = 384, cluster = 1, smem_bytes = 0;
  using params = rule_params;

  TW_DEVICE static void run(params const& p) {
    bool const gives = p.is(rule_mutation::chosen_by_warp) ? warp_id() == 0 : warpgroup_id() == 0;
    if (p.is(rule_mutation::no_registers_given) && warpgroup_id() == 0) {
    } else if (gives && p.is(rule_mutation::increase_to_fewer)) {
      set_max_regs_inc<40>();
    } else if (gives) {
      set_max_regs_dec<40>();
    } else if (p.is(rule_mutation::too_many_registers)) {
      set_max_regs_inc<240>();
    } else if (!p.is(rule_mutation::one_warp_alone) || warp_id() % 4 == 0) {
      set_max_regs_inc<232>();
    }
    for (int i = thread_id(); i < 1024; i += threads) p.out[i] = p.in[i];
  }
};

/// Each CTA waits for the one before it. The device holds two of the CTAs at a time: they may wait
/// for those that start before them, not for later ones.
struct chain {
  static constexpr int threads = 1024, cluster = 1, smem_bytes = 0;
  using params = rule_params;

  TW_DEVICE static void wait_for(params const& p, int cta) {
    if (thread_id() == 0)
      while (load_acquire(p.flag + cta) != 1) backoff();
    cta_sync();
  }
  TW_DEVICE static void run(params const& p) {
    int const c = cta_id(), last = cta_count() - 1, t = thread_id();
    if (p.is(rule_mutation::descending_order)) {
      if (c != last) wait_for(p, c + 1);
    } else if (p.is(rule_mutation::first_wait_for_last)) {
      if (c < 2) wait_for(p, last);
    } else if (c != 0 && !p.is(rule_mutation::grid_barrier)) {
      wait_for(p, c - 1);
    }
    if (c == 0) p.out[t] = p.in[t];
    cta_sync();
    if (t == 0) store_release(p.flag + c, 1U);
    if (p.is(rule_mutation::grid_barrier))
      for (int other = 0; other <= last; ++other) wait_for(p, other);
  }
};

struct alignas(16) four_floats {
  float x[4];
};

/// out[i] = the sum of in[i - 1], in[i] and in[i + 1], where they exist; then all of it once more
/// through vectors of 16 bytes.
struct halo {
  static constexpr int threads = 256, cluster = 1;
  struct smem {
    alignas(16) float x[1024 + 8];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = rule_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    int const elems = p.is(rule_mutation::rounded_up) ? 1024 + threads : 1024;
    for (int i = t; i < elems; i += threads) {
      float sum = p.in[i];
      if (i > 0 || p.is(rule_mutation::one_before_the_begin)) sum += p.in[i - 1];
      if (i < 1023 || p.is(rule_mutation::one_past_the_end)) sum += p.in[i + 1];
      p.out[i] = sum;
    }
    int const at = p.is(rule_mutation::vector_at_four) ? 1 : 0;
    auto const* const vectors = reinterpret_cast<four_floats const*>(p.in + at);
    int const smem_at = p.is(rule_mutation::vector_in_smem_at_four) ? 1 : 0;
    if (t < 255) {
      *reinterpret_cast<four_floats*>(s.x + 4 * t + smem_at) = vectors[t];
      int const copy_at = p.is(rule_mutation::copy_at_eight) ? 2 : 0;
      cp_async<16>(s.x + 4 * t, p.in + 4 * t + copy_at);
    }
    cp_async_commit();
    cp_async_wait<0>();
  }
};

/// cp.async in, TMA store out: each asynchronous operation is waited for through its group.
struct groups {
  static constexpr int threads = 256, cluster = 1;
  struct smem {
    alignas(128) float box[32][32];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = rule_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    cp_async<16>(&s.box[0][0] + 4 * t, p.in + 4 * t);
    bool const late = p.is(rule_mutation::commit_after_wait);
    if (!late && !p.is(rule_mutation::no_copy_commit)) cp_async_commit();
    cp_async_wait<0>();
    if (late) cp_async_commit();
    for (int i = 0; i < 4; ++i) (&s.box[0][0])[4 * t + i] += 1;
    fence_proxy_async();
    cta_sync();
    if (t == 0) {
      tma_store(p.map, s.box, tma_coord<2>{{0, 0}});
      if (!p.is(rule_mutation::no_store_commit)) tma_store_commit();
      tma_store_wait<0>();
    }
  }
};

}  // namespace tw::mutants
