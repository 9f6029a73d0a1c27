// SPDX-License-Identifier: Apache-2.0
// cluster.hpp  Which CTAs of a cluster have the same rows of A or columns of B, and loads for them.
#pragma once

#include "ladder/ladder.hpp"

namespace ladder {

/// The place of this CTA among M x N CTAs, and the masks of those that share an operand with it.
template <int M, int N>
struct cluster_place {
  int m = cluster_rank() % M, n = cluster_rank() / M;

  /// Rank m + M j for every j: the same rows of A.
  TW_DEVICE std::uint16_t same_rows() const {
    unsigned mask = 0;
    for (int j = 0; j < N; ++j) mask |= 1U << (m + M * j);
    return static_cast<std::uint16_t>(mask);
  }
  /// Ranks n M to n M + M - 1: the same columns of B.
  TW_DEVICE std::uint16_t same_columns() const {
    return static_cast<std::uint16_t>(((1U << M) - 1) << (n * M));
  }
};

/// Loads a box into all CTAs of the mask, each of which counts its bytes; a CTA without peers loads
/// it for itself alone.
template <int Peers>
TW_DEVICE void load(bf16* to, tensor_map const& map, mbarrier& landed, tma_coord<2> at,
                    std::uint16_t mask) {
  if constexpr (Peers == 1)
    tma_load(to, map, landed, at);
  else
    tma_load_multicast(to, map, landed, at, mask);
}

/// Tiles that cover an extent.
inline int tiles(int extent, int of) { return (extent + of - 1) / of; }

}  // namespace ladder
