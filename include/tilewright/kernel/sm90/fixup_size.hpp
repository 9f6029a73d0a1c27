// SPDX-License-Identifier: Apache-2.0
// fixup_size.hpp  Number of counters that the parts of a split-K tile need.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

/// Parts that one arrival counter takes; more parts than that are added in two steps. Of narrow
/// tiles more are read at once.
TW_HD constexpr int fixup_group(int tile_n) { return tile_n <= 32 ? 16 : 8; }

/// Counters of one warpgroup of one tile: that of the groups' sums, then one for each group.
TW_HD constexpr int fixup_counters(int max_parts, int tile_n) {
  int const group = fixup_group(tile_n);
  return max_parts <= group ? 1 : 1 + (max_parts + group - 1) / group;
}

}  // namespace tw
