// SPDX-License-Identifier: Apache-2.0
// fp8_scales.hpp  Beside rung 3: e4m3 operands with a scale for each 128 elements along K. The
//                 tensor core sums one block; the threads multiply its sums by the scales of their
//                 row and column as they add them.
#pragma once

#include "ladder/ladder.hpp"

namespace ladder {

struct side_fp8_scales {
  static constexpr int bm = 64, bn = 128, bk = 128, stages = 2, threads = 128, cluster = 1;
  static constexpr layout atom = smem_atom(operand_major::k, smem_swizzle::b128, 8);
  static constexpr layout a_tile = tile_to_shape(atom, make_shape(bm, bk));
  static constexpr layout b_tile = tile_to_shape(atom, make_shape(bn, bk));
  static constexpr tiled_mma mma = make_tiled_mma(find_mma("mma.sm90.m64n128k32.f32.e4m3.e4m3.ss"),
                                                  make_layout(make_shape(1, 1, 1)));

  /// A (m, k) and B (n, k), contiguous along K, with scales (m, k / 128) and (n, k / 128) that are
  /// contiguous along M and N, as cuBLASLt's VEC128_32F has them.
  struct problem {
    e4m3 const *a, *b;
    float const *scale_a, *scale_b;
    bf16* d;
    int m, n, k;
    target where;
  };
  struct smem {
    alignas(1024) e4m3 a[stages][bm * bk];
    alignas(1024) e4m3 b[stages][bn * bk];
    float row[bm], column[bn];  // scales of the block that is added
    mbarrier ab_landed[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    tensor_map a, b;  // boxes a_tile and b_tile
    float const *scale_a, *scale_b;
    bf16* d;
    int m, n, blocks;
  };

  static tensor_map map_of(e4m3 const* base, int rows, int k, layout const& box, target where) {
    layout const gmem = make_layout(layout(rows, k), layout(k, 1));
    tiler const tile = tw::tile(size(mode(box, 0)), size(mode(box, 1)));
    return make_tensor_map(make_tensor_map_desc(make_tma_params(gmem, box, tile, 8), elem::e4m3,
                                                const_cast<e4m3*>(base)),
                           where);
  }
  static params params_of(problem const& x) {
    return {map_of(x.a, x.m, x.k, a_tile, x.where),
            map_of(x.b, x.n, x.k, b_tile, x.where),
            x.scale_a,
            x.scale_b,
            x.d,
            x.m,
            x.n,
            x.k / bk};
  }
  static int ctas(problem const& x) { return x.m / bm * (x.n / bn); }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const m = cta_id() / (p.n / bn), n = cta_id() % (p.n / bn);
    if (thread_id() == 0) {
      for (int i = 0; i < stages; ++i) s.ab_landed[i].init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0)
      for (int k = 0; k < stages && k < p.blocks; ++k) load(p, s, m, n, k, k);

    accumulators<mma, bm, bn> sums, of_block;
    set_to_zero(sums);
    ring<stages> slot;
    for (int k = 0; k < p.blocks; ++k, slot.next()) {
      s.column[thread_id()] = p.scale_b[k * p.n + n * bn + thread_id()];
      if (thread_id() < bm) s.row[thread_id()] = p.scale_a[k * p.m + m * bm + thread_id()];
      s.ab_landed[slot.stage].wait(slot.phase);
      auto const sA = make_tensor<a_tile>(make_smem_ptr<1024>(s.a[slot.stage]));  // (bm, bk)
      auto const sB = make_tensor<b_tile>(make_smem_ptr<1024>(s.b[slot.stage]));  // (bn, bk)
      fence(of_block);
      gemm<mma>(sA, sB, of_block, false);  // four wgmma.m64n128k32, of this block alone
      wgmma_commit();
      wait(of_block);
      cta_sync();  // all scales are written, and all warps have read the stage
      if (thread_id() == 0 && k + stages < p.blocks) load(p, s, m, n, k + stages, slot.stage);
      add(s, sums, of_block);
      cta_sync();  // all warps have read the scales
    }
    store(p, sums, m, n);
  }

  /// One thread starts the copies of block k.
  TW_DEVICE static void load(params const& p, smem& s, int m, int n, int k, int stage) {
    s.ab_landed[stage].arrive_expect_tx(sizeof(s.a[0]) + sizeof(s.b[0]));
    tma_load(s.a[stage], p.a, s.ab_landed[stage], tma_coord<2>{{k * bk, m * bm}});
    tma_load(s.b[stage], p.b, s.ab_landed[stage], tma_coord<2>{{k * bk, n * bn}});
  }

  /// sums += of_block, each element times the scales of its row and column.
  template <class Sums>
  TW_DEVICE static void add(smem const& s, Sums& sums, Sums& of_block) {
    auto const at = partition_c<mma>(make_identity_tensor<make_shape(bm, bn)>(), thread_id());
    TW_UNROLL
    for (int v = 0; v < 64; ++v) {
      auto const place = at(v, 0, 0);  // row and column in the tile
      sums(v, 0, 0) += of_block(v, 0, 0) * (s.row[place[0]] * s.column[place[1]]);
    }
  }

  template <class Sums>
  TW_DEVICE static void store(params const& p, Sums& sums, int m, int n) {
    auto const gD = local_tile<tile(bm, bn)>(gmem_view<16>(p.d, p.m, p.n, p.n), m, n);
    auto const tD = partition_c<mma>(gD, thread_id());  // (64, 1, 1)
    TW_UNROLL
    for (int v = 0; v < 64; ++v) tD(v, 0, 0) = rounded(sums(v, 0, 0));
  }
};

}  // namespace ladder
