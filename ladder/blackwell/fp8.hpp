// SPDX-License-Identifier: Apache-2.0
// fp8.hpp  The FP8 GEMM of a guide to CuTe, Hopper and Blackwell, as Blackwell runs it: D = A B^T,
//          A and B of e4m3 and contiguous along K, D of float32. M, N and K are multiples of 128.
//          docs/tutorial/blackwell_article.md lists what was changed and why.
//          For sm_100f: it has run in the emulator alone.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace blackwell {

using namespace tw;

struct fp8_gemm {
  static constexpr int bm = 128, bn = 128, bk = 128, stages = 4;
  static constexpr int threads = 128, cluster = 1;
  static constexpr int step = 32;  // of K, in one multiply: 32 bytes
  static constexpr std::uint32_t idesc =
      umma_idesc{.d_format = 1, .a_format = 0, .b_format = 0, .n = bn, .m = bm}.bits();

  struct smem {
    alignas(1024) std::uint8_t a[stages][bm * bk];  // rows of 128 bytes, swizzled by TMA
    alignas(1024) std::uint8_t b[stages][bn * bk];
    mbarrier landed[stages], read[stages], done;
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes of 128 x 128 bytes with the 128-byte swizzle
    float* d;
    int m, n, k;
  };

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() % (p.m / bm) * bm, n = cta_id() / (p.m / bm) * bn;
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) s.landed[i].init(1), s.read[i].init(1);
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) {
      tmem_alloc(&s.tensor_at, bn);  // the sums are no registers
      tmem_relinquish();
    }
    cta_sync();
    if (warp_id() == 0) {
      if (elect_one()) load_and_multiply(p, s, m, n);  // one thread, not a warpgroup
      warp_sync();
    }
    store(p, s, m, n);
    cta_sync();  // all sums were read
    if (warp_id() == 0) tmem_dealloc(s.tensor_at, bn);
  }

  TW_DEVICE static void load_and_multiply(params const& p, smem& s, int m, int n) {
    enter_role("load and multiply");
    int const blocks = p.k / bk;
    auto const load = [&](int k) {  // K block k goes to stage k % stages
      int const at = k % stages;
      if (k >= stages) s.read[at].wait(turn(k) ^ 1U);  // its multiplies have read the stage
      s.landed[at].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
      tma_load(s.a[at], p.a, s.landed[at], tma_coord{k * bk, m});
      tma_load(s.b[at], p.b, s.landed[at], tma_coord{k * bk, n});
    };
    for (int k = 0; k < stages - 1 && k < blocks; ++k) load(k);
    for (int k = 0; k < blocks; ++k) {
      int const at = k % stages;
      s.landed[at].wait(turn(k));
      for (int i = 0; i < bk / step; ++i)
        umma<umma_kind::f8f6f4>(s.tensor_at, operand(s.a[at]) + i * step,
                                operand(s.b[at]) + i * step, idesc, k > 0 || i > 0);
      umma_commit(s.read[at]);  // arrives when the tensor core has read the stage
      if (k + stages - 1 < blocks) load(k + stages - 1);
    }
    umma_commit(s.done);
  }
  TW_DEVICE static std::uint32_t turn(int k) { return static_cast<std::uint32_t>(k / stages) & 1U; }
  TW_DEVICE static umma_desc operand(std::uint8_t const* tile) {
    return make_umma_desc(smem_addr(tile), 16, 1024, swizzle_mode::b128);
  }

  /// Warp w reaches lanes 32 w to 32 w + 31 of tensor memory: rows of D, one for each thread.
  TW_DEVICE static void store(params const& p, smem& s, int m, int n) {
    enter_role("store");
    s.done.wait(0);
    tcgen05_fence_after();
    float* const row = p.d + std::int64_t{m + thread_id()} * p.n + n;
    for (int c = 0; c < bn; c += 32) {
      auto sums = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(s.tensor_at, 32 * warp_id(), c));
      tmem_wait_load(sums);
      TW_UNROLL
      for (int i = 0; i < 32; ++i) row[c + i] = tmem_float(sums.r[i]);
    }
    tcgen05_fence_before();
  }
};

}  // namespace blackwell
