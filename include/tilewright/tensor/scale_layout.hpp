// SPDX-License-Identifier: Apache-2.0
// scale_layout.hpp  The layout of the scales of an operand: (outer, k) -> place of the scale.
//
// Needs:    extents >= 1
// Ensures:  L(i, k) == scale_offset(s, i, k) for i < outer and k < K; strides inside a block are 0
//           A tiled scale_desc becomes scale_factors_32_4_4 (atom/scale_factors.hpp) with its
//           strides.
// Example:  1x128, M contiguous   (130,(128,3)):(1,(0,130))     tests/problem/scale_test.cpp
#pragma once

#include "tilewright/layout/layout.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

namespace detail {

/// One mode: blocks of `block` elements, at a stride.
constexpr layout scale_mode(std::int64_t block, std::int64_t extent, layout const& blocks) {
  if (block == 0) return layout(extent, std::int64_t{0});
  if (block == 1) return blocks;
  return make_layout(layout(block, std::int64_t{0}), blocks);
}

}  // namespace detail

/// The layout of one matrix's scales. Extents that are no multiple of the block are rounded up.
constexpr layout scale_layout(scale_desc const& s, std::int64_t outer, std::int64_t k) {
  if (s.tiled)
    return make_layout(
        make_layout(layout(32, 16), layout(4, 4),
                    layout(blocks_in(outer, scale_tile_rows), s.stride_outer)),
        make_layout(layout(s.block_k, std::int64_t{0}), layout(4, 1),
                    layout(blocks_in(scale_blocks(s.block_k, k), scale_tile_blocks), s.stride_k)));
  layout const outer_blocks(scale_blocks(s.block_outer, outer), s.stride_outer);
  std::int64_t const k_blocks = scale_blocks(s.block_k, k);
  layout const groups(blocks_in(k_blocks, s.packed_k), s.stride_k);
  layout const along_k =
      s.packed_k == 1 ? detail::scale_mode(s.block_k, k, groups)
                      : make_layout(layout(s.block_k, std::int64_t{0}),
                                    layout(std::int64_t{s.packed_k}, std::int64_t{1}), groups);
  return make_layout(detail::scale_mode(s.block_outer, outer, outer_blocks), along_k);
}

}  // namespace tw
