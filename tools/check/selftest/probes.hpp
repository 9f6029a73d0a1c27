// SPDX-License-Identifier: Apache-2.0
// probes.hpp  Small kernels that each show what one instruction of tcgen05 does: words in global
//             memory, which are the same whatever the machine if both follow the PTX ISA.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tools/check/selftest/convert_probe.hpp"
#include "tools/check/selftest/copy_probe.hpp"
#include "tools/check/selftest/multiply_probes.hpp"
#include "tools/check/selftest/scaled_probe.hpp"

namespace tw::selftest {

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
  act("tcgen05.cp.128x256b", copy_probe<tmem_copy_shape::c128x256b>{}, 1);
  act("tcgen05.cp.128x128b", copy_probe<tmem_copy_shape::c128x128b>{}, 1);
  act("tcgen05.cp.64x128b.warpx2::02_13", copy_probe<tmem_copy_shape::c64x128b_02_13>{}, 1);
  act("tcgen05.cp.64x128b.warpx2::01_23", copy_probe<tmem_copy_shape::c64x128b_01_23>{}, 1);
  act("tcgen05.cp.32x128b.warpx4", copy_probe<tmem_copy_shape::c32x128b_x4>{}, 1);
  act("tcgen05.cp.4x256b", copy_probe<tmem_copy_shape::c4x256b>{}, 1);
  act("tcgen05.cp.128x128b.b8x16.b4x16_p64",
      copy_probe<tmem_copy_shape::c128x128b, tmem_unpack::b4>{}, 1);
  act("tcgen05.cp.128x128b.b8x16.b6x16_p32",
      copy_probe<tmem_copy_shape::c128x128b, tmem_unpack::b6>{}, 1);
  using k = umma_kind;
  using e = elem;
  act("tcgen05.mma.kind::f16, f16", umma_probe<k::f16, e::f16>{}, 1);
  act("tcgen05.mma.kind::f16, bf16", umma_probe<k::f16, e::bf16>{}, 1);
  act("tcgen05.mma.kind::tf32", umma_probe<k::tf32, e::tf32>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e4m3", umma_probe<k::f8f6f4, e::e4m3>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e5m2", umma_probe<k::f8f6f4, e::e5m2>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e2m3", umma_probe<k::f8f6f4, e::e2m3>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e3m2", umma_probe<k::f8f6f4, e::e3m2>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e2m1", umma_probe<k::f8f6f4, e::e2m1>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, e4m3 and e2m1", umma_probe<k::f8f6f4, e::e4m3, e::e2m1>{}, 1);
  act("tcgen05.mma.kind::f16, A in tensor memory", umma_probe<k::f16, e::bf16, e::bf16, true>{}, 1);
  act("tcgen05.mma.kind::f8f6f4, A in tensor memory",
      umma_probe<k::f8f6f4, e::e4m3, e::e4m3, true>{}, 1);
  act("tcgen05.mma.kind::mxf8f6f4, e4m3",
      scaled_probe<k::mxf8f6f4, 32, e::e4m3, e::e4m3, e::ue8m0>{}, 1);
  act("tcgen05.mma.kind::mxf8f6f4, e5m2 and e2m3",
      scaled_probe<k::mxf8f6f4, 32, e::e5m2, e::e2m3, e::ue8m0>{}, 1);
  act("tcgen05.mma.kind::mxf4.block32", scaled_probe<k::mxf4, 32, e::e2m1, e::e2m1, e::ue8m0>{}, 1);
  act("tcgen05.mma.kind::mxf4nvf4.block32",
      scaled_probe<k::mxf4nvf4, 32, e::e2m1, e::e2m1, e::ue8m0>{}, 1);
  act("tcgen05.mma.kind::mxf4nvf4.block16, ue4m3",
      scaled_probe<k::mxf4nvf4, 16, e::e2m1, e::e2m1, e::ue4m3>{}, 1);
  act("tcgen05.mma.cta_group::2, commit to both", cluster_probe<2>{}, 2);
  act("tcgen05.commit.multicast::cluster", cluster_probe<1>{}, 2);
  act("cvt.e2m1x2", convert_probe<e::e2m1>{}, 1);
  act("cvt.e2m3x2", convert_probe<e::e2m3>{}, 1);
  act("cvt.e3m2x2", convert_probe<e::e3m2>{}, 1);
  act("cvt.ue8m0x2", convert_probe<e::ue8m0>{}, 1);
  act("clusterlaunchcontrol", launch_probe{}, launch_ctas);
}

}  // namespace tw::selftest
