// SPDX-License-Identifier: Apache-2.0
// fixup_size.hpp  How many counters the parts of a shared tile need.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

/// Parts that one arrival counter takes; more parts than that are added in two steps.
inline constexpr int fixup_group = 8;

/// Counters of one warpgroup of one tile: that of the groups' sums, then one for each group.
TW_HD constexpr int fixup_counters(int most_parts) {
  return most_parts <= fixup_group ? 1 : 1 + (most_parts + fixup_group - 1) / fixup_group;
}

}  // namespace tw
