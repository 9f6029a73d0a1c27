// SPDX-License-Identifier: Apache-2.0
// divided.hpp  A launch of several virtual ranks: each has equally many CTAs and its own
//              parameters. All CTAs must be resident, for ranks wait for each other: the grid has
//              no more than the GPU holds at once.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw {

/// Kernel K for up to Ranks ranks. K reads its place in the grid from its parameters
/// (gate_params::first_cluster), or has run(params, cta) with the number of the rank's CTA
/// (exchange.hpp).
template <class K, int Ranks>
struct divided_kernel {
  using of_rank = K;
  struct params {
    typename K::params of[Ranks];
    int ctas;  // of a rank
  };
  static constexpr int threads = K::threads, cluster = K::cluster, smem_bytes = K::smem_bytes;

  TW_DEVICE static void run(params const& p) {
    int const rank = cta_id() / p.ctas;
    if constexpr (requires { K::run(p.of[0], 0); })
      K::run(p.of[rank], cta_id() - rank * p.ctas);
    else
      K::run(p.of[rank]);
  }
};

}  // namespace tw
