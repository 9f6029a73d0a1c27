// SPDX-License-Identifier: Apache-2.0
// scaled_probe.hpp  tcgen05.mma with scale factors, for every place that the factors of an
//                   instruction can have in a column.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tools/check/selftest/probe_operand.hpp"

namespace tw::selftest {

/// D = the sum of A B with the factors of each id, M = 128, N = 64: word row * 64 + column. A row
/// has four factors, which tcgen05.cp brings; each multiply takes the next ones, and the same A, B.
template <umma_kind K, int Block, elem A, elem B, elem Scale>
struct scaled_probe {
  using params = probe_params;
  static constexpr int m = 128, n = 64, k = umma_k(K), block = Block, columns = 128;
  static constexpr int factors = k / Block, steps = 4 / factors;
  static constexpr bool dense = K >= umma_kind::mxf4;
  using a_tile = probe_operand<A, dense>;
  using b_tile = probe_operand<B, dense>;
  struct smem {
    alignas(1024) std::uint32_t a[a_tile::words(m)], b[b_tile::words(n)];
    alignas(128) std::uint32_t sfa[128], sfb[128];  // [row % 32][row / 32]
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const t = thread_id();
    a_tile::fill(s.a, m, 0, 0);
    b_tile::fill(s.b, n, 0, 1);
    s.sfa[t % 32 * 4 + t / 32] = factors_of(t, 0);
    s.sfb[t % 32 * 4 + t / 32] = factors_of(t, 1);  // those of columns from 64 on are not read
    begin_multiply<columns>(s);
    if (warp_id() == 0 && elect_one()) {
      std::uint32_t const sfa = tmem_at(s.tensor_at, 0, n), sfb = tmem_at(s.tensor_at, 0, n + 4);
      tmem_copy<tmem_copy_shape::c32x128b_x4>(sfa, factor_desc(s.sfa));
      tmem_copy<tmem_copy_shape::c32x128b_x4>(sfb, factor_desc(s.sfb));
      TW_UNROLL
      for (int i = 0; i < steps; ++i)
        umma_scaled<K, Block>(s.tensor_at, a_tile::desc(s.a, m), b_tile::desc(s.b, n),
                              idesc(i * factors), sfa, sfb, i > 0);
      umma_commit(s.done);
    }
    warp_sync();
    s.done.wait(0);
    tcgen05_fence_after();
    auto v = tmem_load<tmem_shape::l32x32b, n>(tmem_at(s.tensor_at, 32 * warp_id(), 0));
    tmem_wait_load(v);
    tcgen05_fence_before();
    TW_UNROLL
    for (int c = 0; c < n; ++c) p.out[t * n + c] = v.r[c];
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, columns);
  }

  /// Factor f of a row is 2^factor_exponent: 1/2, 1 or 2.
  TW_HD static constexpr int factor_exponent(int row, int f, int which) {
    return (row + 2 * f + which) % 3 - 1;
  }

 private:
  TW_HD static constexpr std::uint32_t idesc(int id) {
    return umma_scaled_idesc{.b_scale_id = id,
                             .a_scale_id = id,
                             .a_format = format_of(K, A),
                             .b_format = format_of(K, B),
                             .n = n,
                             .m = m,
                             .ue8m0 = is_exponent(Scale)}
        .bits();
  }
  TW_DEVICE static umma_desc factor_desc(void const* at) {
    return make_umma_desc(smem_addr(at), 16, 128, swizzle_mode::none);
  }
  TW_DEVICE static std::uint32_t factors_of(int row, int which) {
    std::uint32_t word = 0;
    for (int f = 0; f < 4; ++f) {
      word |= code_of_power<Scale>(factor_exponent(row, f, which)) << 8 * f;
    }
    return word;
  }
};

}  // namespace tw::selftest
