// SPDX-License-Identifier: Apache-2.0
// plain_kernels.hpp  Kernels of ordinary loads and stores beside TMA, and ways to break them.
#pragma once

#include <cstring>

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class plain_mutation : int { none, no_barrier, no_proxy_fence, memcpy_no_barrier, count };

struct plain_params {
  tensor_map from, to;  // boxes of 32 x 32 floats
  float const* source;
  plain_mutation broken;
};

/// 32 x 32 floats from global memory, transposed in shared memory, stored by TMA.
template <plain_mutation Only = plain_mutation::count>
struct transpose {
  static constexpr int threads = 256, cluster = 1;
  struct smem {
    alignas(128) float rows[32][33];  // one more column: no bank conflicts
    alignas(128) float turned[32][32];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = plain_params;

  TW_DEVICE static bool is(params const& p, plain_mutation m) {
    return Only == plain_mutation::count ? p.broken == m : Only == m;
  }
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const x = thread_id() % 32, y = thread_id() / 32;
    bool const by_memcpy = is(p, plain_mutation::memcpy_no_barrier);
    for (int r = y; r < 32; r += 8) {
      if (by_memcpy)
        std::memcpy(&s.rows[r][x], p.source + r * 32 + x, sizeof(float));
      else
        s.rows[r][x] = p.source[r * 32 + x];
    }
    if (!by_memcpy && !is(p, plain_mutation::no_barrier)) cta_sync();
    for (int r = y; r < 32; r += 8) s.turned[r][x] = s.rows[x][r];
    if (!is(p, plain_mutation::no_proxy_fence)) fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      tma_store(p.to, s.turned, tma_coord<2>{{0, 0}});
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  }
};

/// Three times: TMA fills a buffer, 128 threads read it plainly, TMA fills it again.
template <plain_mutation Only = plain_mutation::count>
struct refill {
  static constexpr int threads = 128, cluster = 1;
  struct smem {
    alignas(128) float box[32][32];
    alignas(128) float sums[32][32];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = plain_params;

  TW_DEVICE static bool is(params const& p, plain_mutation m) {
    return Only == plain_mutation::count ? p.broken == m : Only == m;
  }
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    float sum[8] = {};
    for (int round = 0; round < 3; ++round) {
      if (thread_id() == 0) {
        s.landed.arrive_expect_tx(sizeof(s.box));
        tma_load(s.box, p.from, s.landed, tma_coord<2>{{0, 32 * round}});
      }
      s.landed.wait(static_cast<std::uint32_t>(round) & 1U);
      TW_UNROLL
      for (int i = 0; i < 8; ++i) sum[i] += s.box[thread_id() / 32 + 4 * i][thread_id() % 32];
      if (!is(p, plain_mutation::no_proxy_fence)) fence_proxy_async();
      if (!is(p, plain_mutation::no_barrier)) cta_sync();
    }
    TW_UNROLL
    for (int i = 0; i < 8; ++i) s.sums[thread_id() / 32 + 4 * i][thread_id() % 32] = sum[i];
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0) {
      tma_store(p.to, s.sums, tma_coord<2>{{0, 0}});
      tma_store_commit();
      tma_store_wait_read<0>();
    }
  }
};

}  // namespace tw::mutants
