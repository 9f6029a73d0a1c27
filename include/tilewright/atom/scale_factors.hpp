// SPDX-License-Identifier: Apache-2.0
// scale_factors.hpp  Where the scale factors of block-scaled operands lie: layouts over (row, k).
//
// A factor of one byte (ue8m0, ue4m3) belongs to `block` elements of a row along K: 32 for MXFP8,
// MXFP6 and MXFP4, 16 for NVFP4. The layouts map an element's coordinates to the byte of its
// factor, so the mode along K has stride 0 inside a block.
//
// linear    factors of a row lie one after another, rows follow each other
// 32_4_4    what tcgen05.mma reads after tcgen05.cp.32x128b.warpx4: tiles of 128 rows by 4 factors,
//           512 bytes each. Row m of a tile has its 4 bytes at 16 (m % 32) + 4 (m / 32). Rows are
//           padded to a multiple of 128 and factors to a multiple of 4: the padding has bytes of
//           its own. torch calls this order SWIZZLE_32_4_4.
// Source: PTX ISA, "Layout of the Scale Factor A/B Matrix in Tensor Memory" (tcgen05).
//
// Needs:    rows, k, block >= 1 [TW0114]
// Example:  scale_factors_32_4_4(256, 128, 16)
//             == ((32,4,2),(16,4,2)):((16,4,1024),(0,1,512))   tests/atom/scale_factors_test.cpp
#pragma once

#include "tilewright/layout/construct.hpp"

namespace tw {

/// (rows, (block, factors)) -> byte, for `rows` rows of k elements.
TW_HD constexpr layout scale_factors_linear(i64 rows, i64 k, i64 block) {
  detail::check_extent(num{rows});
  detail::check_extent(num{k});
  detail::check_extent(num{block});
  i64 const factors = (k + block - 1) / block;
  return make_layout(layout(rows, factors),
                     make_layout(layout(block, i64{0}), layout(factors, i64{1})));
}

/// ((32,4,tiles of rows), (block,4,tiles along K)) -> byte, for `rows` rows of k elements.
TW_HD constexpr layout scale_factors_32_4_4(i64 rows, i64 k, i64 block) {
  detail::check_extent(num{rows});
  detail::check_extent(num{k});
  detail::check_extent(num{block});
  i64 const row_tiles = (rows + 127) / 128;
  i64 const k_tiles = (k + 4 * block - 1) / (4 * block);
  return make_layout(make_layout(layout(32, 16), layout(4, 4), layout(row_tiles, 512 * k_tiles)),
                     make_layout(layout(block, i64{0}), layout(4, 1), layout(k_tiles, 512)));
}

}  // namespace tw
