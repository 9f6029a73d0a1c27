// SPDX-License-Identifier: Apache-2.0
// tiles.hpp  Which tile and which K blocks of it are a CTA's.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

template <gemm_config C>
struct gemm_tiles {
  /// This CTA's cluster and how many there are; of one CTA each, with a constant less to read.
  TW_DEVICE static int own_cluster() { return C.cluster() == 1 ? cta_id() : cluster_id(); }
  TW_DEVICE static int clusters() { return C.cluster() == 1 ? cta_count() : cluster_count(); }

  /// The CTA's tile of a cluster tile, in units of CTA tiles.
  TW_DEVICE static tile_place tile_of(gemm_params const& p, int cluster_tile) {
    tile_place const t = p.walk.place(cluster_tile);
    return {t.m * C.cluster_m + cluster_rank() % C.cluster_m,
            t.n * C.cluster_n + cluster_rank() / C.cluster_m % C.cluster_n, t.batch};
  }

  /// Columns of a tile.
  TW_DEVICE static int cols_of(gemm_params const& p) {
    return C.narrows() ? p.tile_cols : C.tile_n;
  }

  /// K blocks [begin, end).
  struct k_range {
    int begin, end;
  };
  /// This CTA's part of a segment; empty where K has fewer blocks than the cluster has CTAs.
  TW_DEVICE static k_range part_of(segment const& seg) {
    if constexpr (C.cluster_k == 1) return {seg.k_begin, seg.k_end};
    int const blocks = seg.k_end - seg.k_begin;
    return {seg.k_begin + blocks * cluster_rank() / C.cluster_k,
            seg.k_begin + blocks * (cluster_rank() + 1) / C.cluster_k};
  }
};

}  // namespace tw
