// SPDX-License-Identifier: Apache-2.0
// global_kernels.hpp  Small kernels whose CTAs work together through global memory, and ways to
//                     break them: split-K counters, stream-K flags, TMA reductions.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class global_mutation : int {
  none,
  no_release,
  no_acquire,
  no_sync_before_flag,
  scope_of_cta,
  count_too_small,
  count_too_large,
  read_wait_only,
  no_sync_after_flag,
  no_global_fence,
  shared_fence_only,
  staging_reused,
  no_proxy_fence,
  no_grid_wait,
  grid_wait_in_one_thread,
  grid_wait_after_reads,
  chain_without_wait,
  stale_map,
  count,
};

struct global_params {
  tensor_map map;  // boxes of 32 x 32 floats; one row of boxes per CTA
  float* partials;
  float* result;
  unsigned* flag;  // followed by two more
  global_mutation broken;
};

/// Common parts of the kernels: 128 threads, a box of 32 x 32 floats, a flag.
template <global_mutation Only>
struct global_kernel {
  static constexpr int threads = 128, cluster = 1, elems = 32 * 32;
  struct smem {
    alignas(128) float box[32][32];
    mbarrier landed;
    int last;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = global_params;

  TW_DEVICE static bool is(params const& p, global_mutation m) {
    return Only == global_mutation::count ? p.broken == m : Only == m;
  }
  /// CTA c's contribution to element i.
  TW_DEVICE static float part(int c, int i) { return static_cast<float>(100 * c + i % 31); }

  /// One thread polls until the flag is `wanted`; then the CTA goes on.
  TW_DEVICE static void wait_for_flag(params const& p, unsigned wanted) {
    if (thread_id() == 0) {
      if (is(p, global_mutation::no_acquire)) {
        while (load_relaxed(p.flag) != wanted) backoff();
      } else {
        while (load_acquire(p.flag) != wanted) backoff();
      }
    }
    if (!is(p, global_mutation::no_sync_after_flag)) cta_sync();
  }
  /// One more CTA is done.
  TW_DEVICE static void raise_flag(params const& p) {
    if (is(p, global_mutation::no_release))
      atomic_add<mem_order::relaxed>(p.flag, 1);
    else
      red_add_release(p.flag, 1);
  }
  /// All threads fill the box of shared memory with the CTA's part.
  TW_DEVICE static void fill(params const& p, smem& s, int c) {
    for (int i = thread_id(); i < elems; i += threads) s.box[i / 32][i % 32] = part(c, i);
    if (!is(p, global_mutation::no_proxy_fence)) fence_proxy_async();
    cta_sync();
  }
};

/// Split-K: each CTA writes its part, the last one to come adds them.
template <global_mutation Only = global_mutation::count>
struct split_k : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    float* const mine = p.partials + cta_id() * elems;
    for (int i = thread_id(); i < elems; i += threads) mine[i] = part(cta_id(), i);
    if (!is(p, global_mutation::no_sync_before_flag)) cta_sync();
    if (thread_id() == 0) {
      unsigned before = 0;
      if (is(p, global_mutation::no_release))
        before = atomic_add<mem_order::acquire>(p.flag, 1);
      else if (is(p, global_mutation::no_acquire))
        before = atomic_add<mem_order::release>(p.flag, 1);
      else if (is(p, global_mutation::scope_of_cta))
        before = atomic_add<mem_order::acq_rel, scope::cta>(p.flag, 1);
      else
        before = atomic_add<mem_order::acq_rel>(p.flag, 1);
      unsigned const all = static_cast<unsigned>(cta_count());
      s.last = before + 1 == (is(p, global_mutation::count_too_small) ? all - 1 : all);
    }
    cta_sync();
    if (s.last == 0) return;
    for (int i = thread_id(); i < elems; i += threads) {
      float sum = 0;
      for (int c = 0; c < cta_count(); ++c) sum += p.partials[c * elems + i];
      p.result[i] = sum;
    }
  }
};

/// Stream-K reduction: CTA 0 adds the tile that the others have stored with TMA to its own.
template <global_mutation Only = global_mutation::count>
struct stream_k : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (cta_id() != 0) {
      base::fill(p, s, cta_id());
      if (thread_id() == 0) {
        tma_store(p.map, s.box, tma_coord<2>{{0, 32 * cta_id()}});
        tma_store_commit();
        if (is(p, global_mutation::read_wait_only))
          tma_store_wait_read<0>();
        else
          tma_store_wait<0>();
        base::raise_flag(p);
      }
      return;
    }
    unsigned const others = static_cast<unsigned>(cta_count()) - 1;
    base::wait_for_flag(p, is(p, global_mutation::count_too_large) ? others + 1 : others);
    for (int i = thread_id(); i < elems; i += threads) {
      float sum = part(0, i);
      for (int c = 1; c < cta_count(); ++c) sum += p.partials[c * elems + i];
      p.result[i] = sum;
    }
  }
};

/// The parts are written with ordinary stores and read back with TMA by CTA 0.
template <global_mutation Only = global_mutation::count>
struct gather : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (cta_id() != 0) {
      float* const mine = p.partials + cta_id() * elems;
      for (int i = thread_id(); i < elems; i += threads) mine[i] = part(cta_id(), i);
      if (is(p, global_mutation::shared_fence_only))
        fence_proxy_async();
      else if (!is(p, global_mutation::no_global_fence))
        fence_proxy_async_global();
      cta_sync();
      if (thread_id() == 0) base::raise_flag(p);
      return;
    }
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      tma_prefetch_map(p.map);
    }
    base::wait_for_flag(p, static_cast<unsigned>(cta_count()) - 1);
    float sum[8];
    for (int i = 0; i < 8; ++i) sum[i] = part(0, thread_id() + threads * i);
    for (int c = 1; c < cta_count(); ++c) {
      if (thread_id() == 0) {
        s.landed.arrive_expect_tx(sizeof(s.box));
        tma_load(s.box, p.map, s.landed, tma_coord<2>{{0, 32 * c}});
      }
      s.landed.wait(static_cast<std::uint32_t>(c - 1) & 1U);
      for (int i = 0; i < 8; ++i) sum[i] += s.box[thread_id() / 32 + 4 * i][thread_id() % 32];
      fence_proxy_async();
      cta_sync();
    }
    for (int i = 0; i < 8; ++i) p.result[thread_id() + threads * i] = sum[i];
  }
};

/// Two rounds of TMA reductions of all CTAs into one tile; CTA 0 copies it out.
template <global_mutation Only = global_mutation::count>
struct reduce : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    for (int round = 0; round < 2; ++round) {
      if (round > 0) {
        if (thread_id() == 0 && !is(p, global_mutation::staging_reused)) tma_store_wait_read<0>();
        cta_sync();
      }
      base::fill(p, s, cta_id());
      if (thread_id() == 0) {
        tma_reduce_add(p.map, s.box, tma_coord<2>{{0, 0}});
        tma_store_commit();
      }
    }
    if (thread_id() == 0) {
      if (is(p, global_mutation::read_wait_only))
        tma_store_wait_read<0>();
      else
        tma_store_wait<0>();
      base::raise_flag(p);
    }
    if (cta_id() != 0) return;
    base::wait_for_flag(p, static_cast<unsigned>(cta_count()));
    for (int i = thread_id(); i < elems; i += threads) p.result[i] = p.partials[i] / 2;
  }
};

/// Stream-K's turn: all CTAs add to one tile, one after the other, several times over. Each hands
/// the turn on with a store to the same flag.
template <global_mutation Only = global_mutation::count>
struct semaphore : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;
  static constexpr int rounds = 4;

  TW_DEVICE static void run(params const& p) {
    for (int round = 0; round < rounds; ++round) {
      auto const turn = static_cast<unsigned>(round * cta_count() + cta_id());
      base::wait_for_flag(p, turn);
      for (int i = thread_id(); i < elems; i += threads)
        p.partials[i] = (turn == 0 ? 0.0F : p.partials[i]) + part(cta_id(), i) / rounds;
      if (!is(p, global_mutation::no_sync_before_flag)) cta_sync();
      if (thread_id() != 0) continue;
      if (is(p, global_mutation::no_release))
        store_relaxed(p.flag, turn + 1);
      else if (is(p, global_mutation::scope_of_cta))
        store_release<scope::cta>(p.flag, turn + 1);
      else
        store_release(p.flag, turn + 1);
    }
    if (cta_id() != cta_count() - 1) return;
    cta_sync();
    for (int i = thread_id(); i < elems; i += threads) p.result[i] = p.partials[i];
  }
};

/// CTA 0 announces the first half of a tile, takes the announcement back once it was seen, and
/// announces the second half with another flag.
template <global_mutation Only = global_mutation::count>
struct two_flags : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::part, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    unsigned* const announced[2] = {p.flag, p.flag + 1};
    unsigned* const seen = p.flag + 2;
    for (int half = 0; half < 2; ++half) {
      int const first = half * elems / 2 + thread_id(), end = (half + 1) * elems / 2;
      if (cta_id() == 0) {
        for (int i = first; i < end; i += threads) p.partials[i] = part(0, i);
        if (!is(p, global_mutation::no_sync_before_flag)) cta_sync();
        if (thread_id() != 0) continue;
        if (is(p, global_mutation::no_release) && half == 1)
          store_relaxed(announced[half], 1);
        else
          store_release(announced[half], 1);
        if (half == 1) continue;
        while (load_relaxed(seen) != 1) backoff();
        store_relaxed(announced[0], 0);
      } else if (cta_id() == 1) {
        if (thread_id() == 0) {
          while ((is(p, global_mutation::no_acquire) && half == 1
                      ? load_relaxed(announced[half])
                      : load_acquire(announced[half])) != 1)
            backoff();
          store_relaxed(seen, 1);
        }
        if (!is(p, global_mutation::no_sync_after_flag)) cta_sync();
        for (int i = first; i < end; i += threads) {
          float sum = p.partials[i];
          for (int c = 1; c < cta_count(); ++c) sum += part(c, i);
          p.result[i] = sum;
        }
      }
    }
  }
};

/// Reads what the predecessor in the stream has written, after grid_dependency_wait.
template <global_mutation Only = global_mutation::count>
struct successor : global_kernel<Only> {
  using base = global_kernel<Only>;
  using base::is, base::elems, base::threads;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    if (!is(p, global_mutation::no_grid_wait) && !is(p, global_mutation::grid_wait_after_reads) &&
        (!is(p, global_mutation::grid_wait_in_one_thread) || thread_id() == 0))
      grid_dependency_wait();
    bool const late = is(p, global_mutation::grid_wait_after_reads);
    for (int i = thread_id(); i < elems; i += threads) {
      float const x = p.result[i];
      if (late && i == thread_id()) grid_dependency_wait();
      p.partials[i] = x;
    }
  }
};

/// Between the two in the stream: needs nothing of its predecessor, and waits for it.
template <global_mutation Only = global_mutation::count>
struct bystander : global_kernel<Only> {
  using base = global_kernel<Only>;
  using typename base::params, typename base::smem;

  TW_DEVICE static void run(params const& p) {
    if (!base::is(p, global_mutation::chain_without_wait)) grid_dependency_wait();
    if (thread_id() == 0) p.flag[1] = 1;
  }
};

}  // namespace tw::mutants
