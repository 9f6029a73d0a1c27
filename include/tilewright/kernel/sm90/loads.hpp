// SPDX-License-Identifier: Apache-2.0
// loads.hpp  The producer's half of the main loop: boxes of A and B by TMA, into the stages.
#pragma once

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/kernel/sm90/scheduler.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

template <gemm_config C>
struct gemm_loads {
  // Each CTA loads its share of the tiles it has in common with its peers, and multicasts it.
  using operand_a = operand_tile<C.a.stored, C.a.major, C.a_swizzle()>;
  using operand_b = operand_tile<C.b.stored, C.b.major, C.b_swizzle()>;
  static constexpr int loaders = C.cluster_m * C.cluster_n;  // CTAs that fill each other's slots
  static constexpr int a_share = C.tile_m / C.cluster_n;     // rows of A one CTA loads
  static constexpr int b_share = C.tile_n / C.cluster_m;     // columns of B one CTA loads
  static constexpr int a_bytes = C.a_bytes();
  static constexpr int b_bytes = C.b_bytes();
  static_assert(a_share % (C.a.is_mn_major() ? operand_a::span : core_matrix_rows) == 0 &&
                    b_share % (C.b.is_mn_major() ? traits_of(C.b.stored).span() / 2
                                                 : core_matrix_rows) ==
                        0,
                "[TW0209] a CTA loads whole groups of 8 rows, whole spans of the swizzle of an "
                "MN-major A, half spans of such a B");
  static_assert(!C.gates_cols() || (!C.b.is_mn_major() && b_share % (2 * core_matrix_rows) == 0),
                "[TW0209] a CTA loads whole groups of 8 gate and 8 up columns, K-major");

  using scheduler = tile_scheduler<C>;
  using k_range = typename scheduler::k_range;

  /// The extents of a tile's loads: its rows of A and columns of B, and those of this CTA. Rows
  /// outside of the matrices are not loaded: TMA would fetch zeros for them, at a quarter of the
  /// speed (docs/decisions/0021). Their place keeps what was there, and nothing of it is stored.
  struct part_of_tile {
    int a_rows, b_rows, a_mine, b_mine;
  };
  struct whole_tile {
    static constexpr int a_rows = C.tile_m, b_rows = C.tile_n, a_mine = a_share, b_mine = b_share;
  };
  /// The beginning of a CTA's loads: row m of A and column n of B, of matrix `batch`.
  struct tile_loads {
    int m, n, batch;
    k_range blocks;
    part_of_tile part;
    int first_k = 0;                     // groups of K: the index of the first element in the maps
    std::byte const* weights = nullptr;  // block 0 of K of the tile's first rows
    std::int64_t row_of_blocks = 0;      // bytes
    bool gathered = false;  // do other warps copy the rows of groups (gather_rows.hpp)?
  };

  /// The place of a segment's tile, and its K blocks.
  TW_DEVICE static tile_loads loads_of(gemm_params const& p,
                                       typename scheduler::segment const& seg) {
    typename scheduler::tile const tile = scheduler::tile_of(p, seg);
    int const rank_m = cluster_rank() % C.cluster_m;
    int const rank_n = cluster_rank() / C.cluster_m % C.cluster_n;
    int const m = rank_n * a_share, n = rank_m * b_share;  // of this CTA's share, in the tile
    int const rows = scheduler::rows_left(p, tile), cols = scheduler::b_cols_left(p, tile);
    part_of_tile part{lines_inside(rows, C.tile_m), lines_inside(cols, scheduler::b_cols_of(p)),
                      lines_inside(rows - m, a_share), lines_inside(cols - n, max_b_share(p))};
    if constexpr (scheduler::loads_whole_a) part.a_rows = C.tile_m, part.a_mine = a_share;
    if constexpr (scheduler::loads_whole_b)
      part.b_rows = scheduler::b_cols_of(p), part.b_mine = max_b_share(p);
    tile_loads t{scheduler::a_origin(tile) + m, scheduler::b_origin(tile) + n, tile.matrix,
                 scheduler::k_blocks_of(seg), part};
    if constexpr (C.weights()) {
      t.row_of_blocks = std::int64_t{p.weights.k_blocks} * C.weights().block_bytes();
      int const first = p.a_batched * tile.matrix * p.weights.row_blocks + t.m / weight_block;
      t.weights = p.weights.blocks + first * t.row_of_blocks;
    }
    return t;
  }
  /// Leaves the rows that groups divide to the warps that gather them.
  TW_DEVICE static void leave_to_gather(tile_loads& t) {
    t.gathered = true;
    if constexpr (C.ragged == group_axis::m)
      t.part.a_rows = t.part.a_mine = 0;
    else
      t.part.b_rows = t.part.b_mine = 0;
  }
  /// Columns of B that a CTA loads at most.
  TW_DEVICE static int max_b_share(gemm_params const& p) {
    return C.varies_tile_n() ? p.tile_cols : b_share;
  }

  /// The maps of A and B, and where a tile's matrices are in them: an index or a tma_place.
  template <class Matrix>
  struct sources {
    tensor_map const &map_a, &map_b;
    Matrix a_matrix, b_matrix;
  };

  /// The producer's part of the main loop: fills the stages with the K blocks of a tile. Part:
  /// part_of_tile or whole_tile. Smem has the members a, b, ab_landed and slot_free.
  template <class Part, class Smem, class Matrix>
  TW_DEVICE static void load_tile(gemm_params const& p, Smem& s, ring<C.stages>& slot,
                                  tile_loads const& t, Part const& x, sources<Matrix> const& from) {
    if constexpr (loaders == 1 && !C.pingpong) {
      // A separate loop: testing the hint in one loop costs as much as issuing the loads (0029).
      l2_load const l2 = C.d_m ? p.a_l2 : p.b_l2;
      if (l2 != l2_load::plain) {
        hinted const hint{l2 == l2_load::evict_first ? evict_first_policy()
                                                     : evict_normal_policy()};
        if constexpr (C.d_m)
          load_blocks(s, slot, t, x, from, hint, plain{});
        else
          load_blocks(s, slot, t, x, from, plain{}, hint);
        return;
      }
    }
    load_blocks(s, slot, t, x, from, plain{}, plain{});
  }

 private:
  /// A K block of prepared weights: a bulk copy for each 64 rows of the tile. Weights are padded to
  /// 128 rows: each tile has all of its blocks.
  TW_DEVICE static void load_weights(std::byte* slot, tile_loads const& t, int k,
                                     mbarrier& landed) {
    constexpr int block = C.weights().block_bytes();
    TW_UNROLL
    for (int i = 0; i < C.tile_m / weight_block; ++i)
      bulk_load(slot + i * block, t.weights + i * t.row_of_blocks + k * block, block, landed);
  }

  /// The L2 cache hint of a box.
  struct plain {
    template <int Rank>
    TW_DEVICE void load(std::byte* box, tensor_map const& map, mbarrier& landed,
                        tma_coord<Rank> const& at) const {
      tma_load(box, map, landed, at);
    }
  };
  struct hinted {
    l2_policy policy;
    template <int Rank>
    TW_DEVICE void load(std::byte* box, tensor_map const& map, mbarrier& landed,
                        tma_coord<Rank> const& at) const {
      tma_load_hinted(box, map, landed, at, policy);
    }
  };

  /// The loop over K blocks: waits for a free stage, announces its bytes, issues its boxes.
  template <class Part, class Smem, class Matrix, class HintA, class HintB>
  TW_DEVICE static void load_blocks(Smem& s, ring<C.stages>& slot, tile_loads const& t,
                                    Part const& x, sources<Matrix> const& from, HintA const& hint_a,
                                    HintB const& hint_b) {
    int const rank_m = cluster_rank() % C.cluster_m;
    int const rank_n = cluster_rank() / C.cluster_m % C.cluster_n;
    auto const same_rows = static_cast<std::uint16_t>(row_of_ranks << rank_m);
    auto const same_cols =
        static_cast<std::uint16_t>(((1 << C.cluster_m) - 1) << rank_n * C.cluster_m);
    TW_UNROLL_BY_2
    for (int k = t.blocks.begin; k < t.blocks.end; ++k, slot.next()) {
      s.slot_free[slot.stage].wait(slot.phase ^ 1U);
      mbarrier& landed = s.ab_landed[slot.stage];
      int const a_filled = C.weights() ? C.a_bytes() : operand_a::bytes(x.a_rows);
      int const b_filled = operand_b::bytes(x.b_rows);
      landed.arrive_expect_tx(a_filled + b_filled);
      if (!t.gathered || C.ragged != group_axis::m)
        leave_undefined(s.a[slot.stage] + a_filled, a_bytes - a_filled);
      if (!t.gathered || C.ragged != group_axis::n)
        leave_undefined(s.b[slot.stage] + b_filled, b_bytes - b_filled);
      std::byte* const a = s.a[slot.stage] + rank_n * (a_bytes / C.cluster_n);  // (a_share, tile_k)
      std::byte* const b = s.b[slot.stage] + rank_m * (b_bytes / C.cluster_m);  // (b_share, tile_k)
      if constexpr (C.weights())
        load_weights(a, t, k, landed);
      else
        load_share<operand_a, a_share, C.cluster_n, plain_map>(
            a, box_load<HintA>{from.map_a, landed, same_rows, hint_a}, t.m,
            t.first_k + k * C.tile_k(), from.a_matrix, x.a_mine);
      load_share<operand_b, b_share, C.cluster_m, b_coords>(
          b, box_load<HintB>{from.map_b, landed, same_cols, hint_b}, t.n,
          t.first_k + k * C.tile_k(), from.b_matrix, x.b_mine);
    }
  }

  /// Coordinates in an operand's tensor map: (contiguous, other, batch), of a batch by pointers
  /// (contiguous, other, place), or of gate and up columns (k, 8 columns, gate or up, groups,
  /// batch).
  struct plain_map {
    TW_DEVICE static tma_coord<3> at(tma_coord<2> x, int batch) {
      return {{x.c[0], x.c[1], batch}};
    }
    TW_DEVICE static tma_coord<4> at(tma_coord<2> x, tma_place matrix) {
      return {{x.c[0], x.c[1], matrix.units, matrix.spans}};
    }
  };
  struct gated_map {
    TW_DEVICE static tma_coord<5> at(tma_coord<2> x, int batch) {
      return {{x.c[0], 0, 0, x.c[1] / (2 * core_matrix_rows), batch}};
    }
  };
  using b_coords = std::conditional_t<C.gates_cols(), gated_map, plain_map>;

  /// The common arguments of the boxes of one stage of an operand: the map, the barrier that counts
  /// their bytes, the CTAs that need them, and the L2 cache hint.
  template <class Hint>
  struct box_load {
    tensor_map const& map;
    mbarrier& landed;
    std::uint16_t mask;
    Hint const& hint;
  };

  /// The boxes of `mine` of `Share` rows (of M or N, from `first`) of the K block from k on, for
  /// `Ctas` CTAs:
  /// of a K-major operand one with all rows, of an MN-major one each with a span of them.
  template <class Operand, int Share, int Ctas, class Map, class Hint, class Matrix>
  TW_DEVICE static void load_share(std::byte* slot, box_load<Hint> const& by, int first, int k,
                                   Matrix matrix, int mine) {
    TW_UNROLL
    for (int i = 0; i < Operand::boxes(Share); ++i)
      if (i * Operand::span < mine)
        load_box<Ctas>(slot + Operand::box_offset_bytes(Share, i), by,
                       Map::at(Operand::box_at(first, k, i), matrix));
  }

  /// A box; the hint is for CTAs without peers. A CTA that has no peer for it must not multicast to
  /// itself: that takes twice the time of a load (docs/decisions/0015).
  template <int Ctas, int Rank, class Hint>
  TW_DEVICE static void load_box(std::byte* box, box_load<Hint> const& by,
                                 tma_coord<Rank> const& at) {
    if constexpr (Ctas > 1)
      tma_load_multicast(box, by.map, by.landed, at, by.mask);
    else
      by.hint.load(box, by.map, by.landed, at);
  }

  /// Bit r for every rank r = 0, cluster_m, 2 * cluster_m, ... of the cluster.
  static constexpr int row_of_ranks = [] {
    int mask = 0;
    for (int n = 0; n < C.cluster_n; ++n) mask |= 1 << (n * C.cluster_m);
    return mask;
  }();
};

}  // namespace tw
