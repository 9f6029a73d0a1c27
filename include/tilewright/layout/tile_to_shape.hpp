// SPDX-License-Identifier: Apache-2.0
// tile_to_shape.hpp  A block repeated until it fills a shape: a shared-memory atom, a tile.
//
//     tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,64)) ==
//                   Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))
//
// Law:      mode i of the result is (block mode i, copies) and has size shape_i; the copies follow
//           each other in memory in the given order of modes, column-major by default
// Needs:    the block's extent divides the shape's in every mode [TW0118]; CuTe rounds up silently
// Example:  tests/layout/tile_to_shape_test.cpp
#pragma once

#include "tilewright/layout/product.hpp"

namespace tw {

TW_HD constexpr layout tile_to_shape(layout const& block, tree const& shape, tree const& order) {
  int const r = rank(block) > rank(shape) ? rank(block) : rank(shape);
  layout const padded = detail::padded(block, r);
  tree copies;
  for (int i = 0; i < r; ++i) {
    i64 const want = i < rank(shape) ? size(mode(shape, i)) : 1;
    i64 const have = size(mode(padded, i));
    if (want % have != 0) refuse_tile_shape(want, have);
    detail::append(copies, tree(want / have));
  }
  detail::wrap(copies);
  return blocked_product(padded, make_ordered_layout(copies, order));
}

/// Modes in column-major order.
TW_HD constexpr layout tile_to_shape(layout const& block, tree const& shape) {
  int const r = rank(block) > rank(shape) ? rank(block) : rank(shape);
  tree order;
  for (int i = 0; i < r; ++i) detail::append(order, tree(i));
  detail::wrap(order);
  return tile_to_shape(block, shape, order);
}

}  // namespace tw
