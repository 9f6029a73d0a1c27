// SPDX-License-Identifier: Apache-2.0
// tensor_gemm.hpp  A complete GEMM written with layouts, tensors and atoms: tensor maps, tiles,
//                  partitions, pipeline and epilogue follow from the layouts.
#pragma once

#include "tilewright/atom/execute.hpp"
#include "tilewright/atom/tma_map.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/pipeline/ring.hpp"

/// D[M,N] = A[M,K] B[N,K]^T in bf16; M and N multiples of 128, K of 64. Two warpgroups compute a
/// tile of 128 x 128; thread 0 keeps four stages filled by TMA.
struct tensor_gemm {
  static constexpr int bm = 128, bn = 128, bk = 64, stages = 4;
  static constexpr int threads = 256, cluster = 1;

  /// (m, k), (n, k): K-major with the 128-byte swizzle.
  static constexpr tw::layout block =
      tw::smem_atom(tw::operand_major::k, tw::smem_swizzle::b128, 16);
  static constexpr tw::layout a_tile = tile_to_shape(block, tw::make_shape(bm, bk));
  static constexpr tw::layout b_tile = tile_to_shape(block, tw::make_shape(bn, bk));
  /// Two wgmma atoms, one below the other.
  static constexpr tw::tiled_mma mma = make_tiled_mma(
      tw::find_mma("mma.sm90.m64n128k16.f32.bf16.bf16.ss"), make_layout(tw::make_shape(2, 1, 1)));

  struct smem {
    alignas(1024) tw::bf16 a[stages][bm * bk];
    alignas(1024) tw::bf16 b[stages][bn * bk];
    tw::mbarrier full[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tw::tensor_map a, b;
    tw::bf16* d;  // (m, n), row-major
    int m, n, k;
  };

  /// The tensor map of an operand (rows, k), K contiguous, for boxes of a tile in shared memory.
  static tw::tensor_map_desc map_of(void* base, int rows, int k, tw::layout const& tile_layout) {
    tw::layout const gmem = make_layout(tw::layout(rows, k), tw::layout(k, 1));
    tw::tiler const tile = tw::tile(size(mode(tile_layout, 0)), size(mode(tile_layout, 1)));
    return make_tensor_map_desc(make_tma_params(gmem, tile_layout, tile, 16), tw::elem::bf16, base);
  }

  TW_DEVICE static void load(params const& p, smem& s, int stage, int k, int m, int n) {
    s.full[stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[stage], p.a, s.full[stage], tw::tma_coord<2>{{k * bk, m * bm}});
    tma_load(s.b[stage], p.b, s.full[stage], tw::tma_coord<2>{{k * bk, n * bn}});
  }

  TW_DEVICE static void run(params const& p) {
    using namespace tw;
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn), steps = p.k / bk;
    bool const leader = thread_id() == 0;
    if (leader) {
      for (int i = 0; i < stages; ++i) s.full[i].init(1);
      fence_mbarrier_init();
      for (int k = 0; k < stages && k < steps; ++k) load(p, s, k, k, m, n);
    }
    cta_sync();

    accumulators<mma, bm, bn> sums;
    ring<stages> slot;
    for (int k = 0; k < steps; ++k, slot.next()) {
      auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));
      auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));
      s.full[slot.stage].wait(slot.phase);
      wgmma_fence(sums.part[0][0]);
      gemm<mma>(sA, sB, sums, k > 0);
      wgmma_commit();
      wgmma_wait<0>(sums.part[0][0]);
      cta_sync();  // all warps have read the stage
      if (leader && k + stages < steps) load(p, s, slot.stage, k + stages, m, n);
    }

    auto const gD = local_tile<tile(bm, bn)>(gmem_view<16>(p.d, p.m, p.n, p.n), m, n);
    auto const out = partition_c<mma>(gD, thread_id());  // (value, 1, 1)
    TW_UNROLL
    for (int v = 0; v < int{size(mode(decltype(out)::map, 0))}; ++v) {
      out(v, 0, 0) = to_bf16(sums(v, 0, 0));
    }
  }
};
