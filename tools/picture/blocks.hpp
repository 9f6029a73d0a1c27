// SPDX-License-Identifier: Apache-2.0
// blocks.hpp  Where the lines of nested modes stand.
#pragma once

#include <vector>

#include "tilewright/layout/value.hpp"

namespace tw {

/// Extents of leaves multiplied up, without the whole: (2,(3,4)) gives 2, 6.
inline std::vector<i64> blocks_of(tree const& shape) {
  std::vector<i64> blocks;
  i64 covered = 1;
  for (int i = 0; i + 1 < shape.n; ++i) {
    covered *= shape.leaf[i].v;
    if (shape.leaf[i].v > 1 && covered > 1) blocks.push_back(covered);
  }
  while (!blocks.empty() && blocks.back() >= size(shape)) blocks.pop_back();
  return blocks;
}

}  // namespace tw
