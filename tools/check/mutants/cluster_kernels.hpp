// SPDX-License-Identifier: Apache-2.0
// cluster_kernels.hpp  Reductions through distributed shared memory, and ways to break them.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class cluster_mutation : int {
  none,
  no_barrier,
  cta_barrier,
  relaxed_barrier,
  exit_too_early,
  no_first_barrier,
  arrives_twice,
  count,
};

struct cluster_params {
  float* out;  // 128
  cluster_mutation broken;
};

/// Each of 4 CTAs has 128 numbers; CTA 0 reads those of its peers and adds them, twice.
template <cluster_mutation Only = cluster_mutation::count>
struct dsmem_sum {
  static constexpr int threads = 128, cluster = 4;
  struct smem {
    float part[2][128];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = cluster_params;

  TW_DEVICE static bool is(params const& p, cluster_mutation m) {
    return Only == cluster_mutation::count ? p.broken == m : Only == m;
  }
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    float sum = 0;
    for (int round = 0; round < 2; ++round) {
      s.part[round][t] = static_cast<float>(1000 * cluster_rank() + 10 * t + round);
      if (is(p, cluster_mutation::cta_barrier)) {
        cta_sync();
      } else if (is(p, cluster_mutation::relaxed_barrier)) {
        cluster_arrive_relaxed();
        cluster_wait();
      } else if (!is(p, cluster_mutation::no_barrier) &&
                 !(round == 0 && is(p, cluster_mutation::no_first_barrier))) {
        cluster_sync();
      }
      if (cluster_rank() != 0) continue;
      for (int c = 0; c < cluster; ++c) sum += *dsmem(&s.part[round][127 - t], c);
    }
    if (cluster_rank() == 0) p.out[t] = sum;
    if (is(p, cluster_mutation::arrives_twice)) cluster_arrive();
    if (!is(p, cluster_mutation::exit_too_early)) cluster_sync();
  }
};

enum class store_mutation : int {
  none,
  cta_wait,
  bytes_missing,
  no_barrier_between,
  count,
};

struct store_params {
  float* out;  // 128
  store_mutation broken;
};

/// Each of 4 CTAs gives CTA 0 four numbers per thread, which a barrier there counts; CTA 0 adds
/// them, twice.
template <store_mutation Only = store_mutation::count>
struct store_async_sum {
  static constexpr int threads = 128, cluster = 4;
  struct alignas(16) four {
    float x[4];
  };
  struct smem {
    four part[cluster][128];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = store_params;

  TW_DEVICE static bool is(params const& p, store_mutation m) {
    return Only == store_mutation::count ? p.broken == m : Only == m;
  }
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id(), rank = cluster_rank();
    if (t == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    float sum = 0;
    for (int round = 0; round < 2; ++round) {
      if (rank == 0 && t == 0)
        s.landed.arrive_expect_tx(is(p, store_mutation::bytes_missing) ? 3 * 128 * 16
                                                                       : cluster * 128 * 16);
      auto const x = static_cast<float>(1000 * rank + 10 * t + round);
      store_async(&s.part[rank][t], four{{x, 1, 2, 3}}, s.landed, 0);
      if (rank == 0) {
        auto const phase = static_cast<std::uint32_t>(round);
        if (is(p, store_mutation::cta_wait))
          s.landed.wait(phase);
        else
          s.landed.template wait<scope::cluster>(phase);
        for (int c = 0; c < cluster; ++c)
          for (int i = 0; i < 4; ++i) sum += s.part[c][32 * i + (127 - t) / 4].x[(127 - t) % 4];
      }
      if (round == 0 && !is(p, store_mutation::no_barrier_between)) cluster_sync();
    }
    if (rank == 0) p.out[t] = sum;
    cluster_sync();
  }
};

}  // namespace tw::mutants
