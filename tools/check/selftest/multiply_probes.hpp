// SPDX-License-Identifier: Apache-2.0
// multiply_probes.hpp  One tcgen05.mma without scale factors, in one CTA and in a CTA pair.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tools/check/selftest/probe_operand.hpp"

namespace tw::selftest {

/// D = A B of one multiply with M = 128, N = 64 and 32 bytes of K: word row * 64 + column. AInTmem:
/// A lies in tensor memory, row r in lane r, 8 columns.
template <umma_kind K, elem A, elem B = A, bool AInTmem = false>
struct umma_probe {
  using params = probe_params;
  static constexpr int m = 128, n = 64, k = umma_k(K), columns = 128;
  using a_tile = probe_operand<A>;
  using b_tile = probe_operand<B>;
  struct smem {
    alignas(1024) std::uint32_t a[a_tile::words(m)], b[b_tile::words(n)];
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static constexpr std::uint32_t idesc =
      umma_idesc{
          .d_format = 1, .a_format = format_of(K, A), .b_format = format_of(K, B), .n = n, .m = m}
          .bits();

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    a_tile::fill(s.a, m, 0, 0);
    b_tile::fill(s.b, n, 0, 1);
    begin_multiply<columns>(s);
    if constexpr (AInTmem) {
      b32<8> row;
      TW_UNROLL
      for (int c = 0; c < 8; ++c) row.r[c] = s.a[c / 4 * 4 * m + 4 * thread_id() + c % 4];
      tmem_store<tmem_shape::l32x32b, 8>(tmem_at(s.tensor_at, 32 * warp_id(), n), row);
      tmem_wait_store();
      tcgen05_fence_before();
      cta_sync();
      tcgen05_fence_after();
    }
    if (warp_id() == 0 && elect_one()) {
      if constexpr (AInTmem)
        umma_ts<K>(s.tensor_at, tmem_at(s.tensor_at, 0, n), b_tile::desc(s.b, n), idesc, false);
      else
        umma<K>(s.tensor_at, a_tile::desc(s.a, m), b_tile::desc(s.b, n), idesc, false);
      umma_commit(s.done);
    }
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    auto v = tmem_load<tmem_shape::l32x32b, n>(tmem_at(s.tensor_at, 32 * warp_id(), 0));
    tmem_wait_load(v);
    tcgen05_fence_before();
    TW_UNROLL
    for (int c = 0; c < n; ++c) p.out[thread_id() * n + c] = v.r[c];
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, columns);
  }
};

/// 256 rows of D = A B with N = 32 by a cluster of two CTAs: word row * 32 + column. Ctas = 2: one
/// multiply of the pair, of whose B each CTA has half. Ctas = 1: one multiply in each CTA; each
/// barrier waits for the commits of both.
template <int Ctas>
struct cluster_probe {
  using params = probe_params;
  static constexpr umma_kind kind = umma_kind::f16;
  static constexpr int rows = 128, m = rows * Ctas, n = 32, own_n = n / Ctas, k = umma_k(kind);
  using tile = probe_operand<elem::bf16>;
  struct smem {
    alignas(1024) std::uint32_t a[tile::words(rows)], b[tile::words(own_n)];
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 2, smem_bytes = sizeof(smem);
  static constexpr std::uint32_t idesc =
      umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = n, .m = m}.bits();

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const rank = cluster_rank();
    tile::fill(s.a, rows, rows * rank, 0);
    tile::fill(s.b, own_n, Ctas == 2 ? own_n * rank : 0, 1);
    if (thread_id() == 0) {
      s.done.init(Ctas == 2 ? 1 : 2);
      fence_mbarrier_init();
    }
    fence_proxy_async();
    cluster_sync();
    if (warp_id() == 0) {
      tmem_alloc<Ctas>(&s.tensor_at, n);
      tmem_relinquish<Ctas>();
    }
    cta_sync();
    if ((Ctas == 1 || rank == 0) && warp_id() == 0 && elect_one()) {
      umma<kind, Ctas>(s.tensor_at, tile::desc(s.a, rows), tile::desc(s.b, own_n), idesc, false);
      umma_commit_multicast<Ctas>(s.done, 0b11);
    }
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    auto v = tmem_load<tmem_shape::l32x32b, n>(tmem_at(s.tensor_at, 32 * warp_id(), 0));
    tmem_wait_load(v);
    tcgen05_fence_before();
    TW_UNROLL
    for (int c = 0; c < n; ++c) p.out[(rows * rank + thread_id()) * n + c] = v.r[c];
    cluster_sync();
    if (warp_id() == 0) tmem_dealloc<Ctas>(s.tensor_at, n);
  }
};

}  // namespace tw::selftest
