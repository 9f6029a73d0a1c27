// SPDX-License-Identifier: Apache-2.0
// weight_block.hpp  Where nibbles and scales of prepared 4-bit weights lie: layouts over (n, k).
//
// A block has 64 rows of N and 64 elements of K. The weights are operand A of wgmma in registers:
// thread 32 w + 4 g + c of a warpgroup holds the rows 16 w + g and 16 w + 8 + g, and of each 16
// elements of K 2 c, 2 c + 1, 2 c + 8 and 2 c + 9 (PTX ISA, "Register Fragments for
// wgmma.mma_async.m64nNk16"). Its 32 nibbles of the block are 16 adjacent bytes, a word for each 16
// elements of K: nibbles i and i + 4 of a word are the lower and the upper half of register i.
// The scales follow the nibbles. A thread reads the scales of its two rows at once.
//
// For activations of e4m3 a block has 128 elements of K. A thread holds of each 32 elements of K
// those from 4 c and from 16 + 4 c on (PTX ISA, "Register Fragments for
// wgmma.mma_async.m64nNk32"): a word for each 16 elements of K, whose lower half is register 2 i
// (row g) and whose upper half is register 2 i + 1. Its 64 nibbles are 16 bytes in each half of the
// block's nibbles.
//
// Needs:    rows, k, block_bytes, scales >= 1 [TW0114]
// Example:  weight_nibbles(128,64,2176)
//             == ((8,2,4,2),(2,4,2,4,1)):((128,1,1024,4352),(4,32,2,8,4352))
//                                                              tests/atom/weight_block_test.cpp
#pragma once

#include "tilewright/layout/construct.hpp"

namespace tw {

/// (n, k) -> nibble of prepared weights, counted from their first block: the low half of byte 0 is
/// nibble 0. Rows are padded to a multiple of 128, k to a multiple of 64. Blocks of 64 rows follow
/// each other along K, block_bytes apart.
TW_HD constexpr layout weight_nibbles(i64 rows, i64 k, i64 block_bytes) {
  detail::check_extent(num{rows});
  detail::check_extent(num{k});
  detail::check_extent(num{block_bytes});
  i64 const row_blocks = (rows + 127) / 128 * 2, k_blocks = (k + 63) / 64, step = 2 * block_bytes;
  return make_layout(
      make_layout(layout(8, 128), layout(2, 1), layout(4, 1024),
                  layout(row_blocks, k_blocks * step)),
      make_layout(layout(2, 4), layout(4, 32), layout(2, 2), layout(4, 8), layout(k_blocks, step)));
}

/// As weight_nibbles(), in the order for activations of e4m3: k is padded to a multiple of 128.
TW_HD constexpr layout weight_nibbles_e4m3(i64 rows, i64 k, i64 block_bytes) {
  detail::check_extent(num{rows});
  detail::check_extent(num{k});
  detail::check_extent(num{block_bytes});
  i64 const row_blocks = (rows + 127) / 128 * 2, k_blocks = (k + 127) / 128, step = 2 * block_bytes;
  return make_layout(make_layout(layout(8, 128), layout(2, 4), layout(4, 1024),
                                 layout(row_blocks, k_blocks * step)),
                     make_layout(layout(4, 1), layout(4, 32), layout(2, 8), layout(2, 16),
                                 layout(2, 4096), layout(k_blocks, step)));
}

/// (n, k) -> scale of a block, whose rows have 1, 2 or 4 each. Zero points have the same order.
TW_HD constexpr layout weight_scales(i64 scales) {
  detail::check_extent(num{scales});
  return make_layout(make_layout(layout(8, 2 * scales), layout(2, scales), layout(4, 16 * scales)),
                     make_layout(layout(64 / scales, i64{0}), layout(scales, i64{1})));
}

}  // namespace tw
