// SPDX-License-Identifier: Apache-2.0
// probes.hpp  Small kernels that each show what one instruction of tcgen05 does: words in global
//             memory, which are the same whatever the machine if both follow the PTX ISA.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::selftest {

struct probe_params {
  std::uint32_t* out;
};
inline constexpr int probe_words = 128 * 64;
inline constexpr int launch_ctas = 2000;  // of the probe of cluster launch control

/// Values of tensor memory: each cell has its lane and column. A load of shape S gives thread t its
/// registers, word t * 64 + r.
template <tmem_shape S, int Count, bool Packed = false>
struct tmem_probe {
  using params = probe_params;
  struct smem {
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem), columns = 64;
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (warp_id() == 0) {
      tmem_alloc(&s.tensor_at, columns);
      tmem_relinquish();
    }
    cta_sync();
    std::uint32_t const at = tmem_at(s.tensor_at, 32 * warp_id(), 0);
    b32<columns> cells;
    TW_UNROLL
    for (int c = 0; c < columns; ++c)
      cells.r[c] = static_cast<std::uint32_t>(thread_id() << 16 | c);
    tmem_store<tmem_shape::l32x32b, columns>(at, cells);
    tmem_wait_store();
    if constexpr (Packed) {
      auto v = tmem_load_packed<S, Count>(at);
      put(p, v);
    } else if constexpr (S == tmem_shape::l16x32bx2) {
      auto v = tmem_load<S, Count, 32>(at);
      put(p, v);
    } else {
      auto v = tmem_load<S, Count>(at);
      put(p, v);
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, columns);
  }
  template <int N>
  TW_DEVICE static void put(params const& p, b32<N>& v) {
    tmem_wait_load(v);
    tcgen05_fence_before();
    TW_UNROLL
    for (int r = 0; r < N; ++r) p.out[thread_id() * 64 + r] = v.r[r];
  }
};

/// D = A B of one multiply with M = 128, N = 64 and 32 bytes of K, operands without a swizzle:
/// word row * 64 + column. Element (i, k) of A and B is a small integer, operand_value().
template <umma_kind K, elem AB>
struct umma_probe {
  using params = probe_params;
  static constexpr int m = 128, n = 64, row_bytes = 32;
  struct smem {
    alignas(1024) std::uint32_t a[m * row_bytes / 4], b[n * row_bytes / 4];
    mbarrier done;
    std::uint32_t tensor_at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static constexpr int format = AB == elem::tf32 ? 2 : AB == elem::bf16 || AB == elem::e5m2 ? 1 : 0;
  static constexpr std::uint32_t idesc =
      umma_idesc{.d_format = 1, .a_format = format, .b_format = format, .n = n, .m = m}.bits();

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    fill(s.a, m, 0);
    fill(s.b, n, 1);
    if (thread_id() == 0) {
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) {
      tmem_alloc(&s.tensor_at, n);
      tmem_relinquish();
    }
    fence_proxy_async();
    cta_sync();
    if (warp_id() == 0 && elect_one()) {
      umma<K>(s.tensor_at, operand(s.a, m), operand(s.b, n), idesc, false);
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
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, n);
  }

  /// Columns of 16 bytes follow one another; in each, rows of 16 bytes.
  TW_DEVICE static umma_desc operand(void const* tile, int rows) {
    return make_umma_desc(smem_addr(tile), static_cast<std::uint32_t>(16 * rows), 128,
                          swizzle_mode::none);
  }
  TW_DEVICE static void fill(std::uint32_t* tile, int rows, int which) {
    constexpr int in_word = 4 / size_bytes(AB);
    for (int w = thread_id(); w < rows * row_bytes / 4; w += threads) {
      int const chunk = w / (4 * rows), row = w / 4 % rows, first = chunk * 4 + w % 4;
      std::uint32_t word = 0;
      for (int i = 0; i < in_word; ++i)
        word |= bits_of(operand_value(row, first * in_word + i, which)) << (32 / in_word * i);
      tile[w] = word;
    }
  }
  /// From -2 to 2.
  TW_HD static constexpr int operand_value(int i, int k, int which) {
    return (i * (3 + which) + k * (5 - which) + which) % 5 - 2;
  }
  /// -2, -1, 0, 1 or 2 in the operand's type.
  TW_HD static constexpr std::uint32_t bits_of(int x) {
    std::uint32_t const sign = x < 0 ? 1 : 0;
    bool const two = x == 2 || x == -2;
    if (AB == elem::e4m3) return x == 0 ? 0 : sign << 7 | (two ? 0x40U : 0x38U);
    if (AB == elem::e5m2) return x == 0 ? 0 : sign << 7 | (two ? 0x40U : 0x3CU);
    if (AB == elem::bf16) return x == 0 ? 0 : sign << 15 | (two ? 0x4000U : 0x3F80U);
    if (AB == elem::f16) return x == 0 ? 0 : sign << 15 | (two ? 0x4000U : 0x3C00U);
    return x == 0 ? 0 : sign << 31 | (two ? 0x40000000U : 0x3F800000U);
  }
};

/// Clusters take the work of others: word i counts how often CTA i's was done.
struct launch_probe {
  using params = probe_params;
  struct smem {
    launch_response answer;
    mbarrier answered;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    bool const leads = thread_id() == 0;
    if (leads) {
      s.answered.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    int work = cta_id();
    for (std::uint32_t phase = 0; work >= 0; phase ^= 1U) {
      if (leads) {
        red_add<mem_order::relaxed, scope::gpu>(&p.out[work], 1U);
        s.answered.arrive_expect_tx(sizeof(launch_response));
        launch_cancel(s.answer, s.answered);
      }
      s.answered.wait(phase);
      work = launch_cancelled(s.answer) ? launch_cancelled_cta(s.answer).x : -1;
      fence_proxy_async();
      cta_sync();  // all have read the answer
    }
  }
};

/// act(name, kernel, CTAs) for each probe, in the same order everywhere.
template <class Act>
void each_probe(Act act) {
  using enum tmem_shape;
  act("tcgen05.ld.32x32b", tmem_probe<l32x32b, 64>{}, 1);
  act("tcgen05.ld.16x64b", tmem_probe<l16x64b, 32>{}, 1);
  act("tcgen05.ld.16x128b", tmem_probe<l16x128b, 16>{}, 1);
  act("tcgen05.ld.16x256b", tmem_probe<l16x256b, 8>{}, 1);
  act("tcgen05.ld.16x32bx2", tmem_probe<l16x32bx2, 32>{}, 1);
  act("tcgen05.ld.32x32b.pack::16b", tmem_probe<l32x32b, 32, true>{}, 1);
  act("tcgen05.mma.kind::f16, f16", umma_probe<umma_kind::f16, elem::f16>{}, 1);
  act("tcgen05.mma.kind::f16, bf16", umma_probe<umma_kind::f16, elem::bf16>{}, 1);
  act("tcgen05.mma.kind::tf32", umma_probe<umma_kind::tf32, elem::tf32>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e4m3", umma_probe<umma_kind::f8f6f4, elem::e4m3>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e5m2", umma_probe<umma_kind::f8f6f4, elem::e5m2>{}, 1);
  act("clusterlaunchcontrol", launch_probe{}, launch_ctas);
}

}  // namespace tw::selftest
