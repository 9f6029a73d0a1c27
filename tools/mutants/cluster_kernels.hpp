// SPDX-License-Identifier: Apache-2.0
// cluster_kernels.hpp  A reduction through distributed shared memory, and ways to break it.
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
    if (!is(p, cluster_mutation::exit_too_early)) cluster_sync();
  }
};

}  // namespace tw::mutants
