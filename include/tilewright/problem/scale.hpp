// SPDX-License-Identifier: Apache-2.0
// scale.hpp  Scale factors of an operand: which elements share one, and where each lies in memory.
//
// A scale multiplies when an element is decoded: D = sum over k of (a sa)(b sb). Scales of A are
// given over (m, k), those of B over (n, k): the outer index, then k. With blocks of block_outer x
// block_k elements the scale of (i, k) is element
//
//     (i / block_outer) stride_outer + (k / block_k) stride_k
//
// of the scale tensor, which is the layout (tensor/scale_layout.hpp)
//
//     ((block_outer, blocks), (block_k, blocks)) : ((0, stride_outer), (0, stride_k))
//
// Every scaling of the libraries is a choice of blocks, and every storage order a choice of strides
// (scale_convention.hpp). Blocks at the end of an extent may be smaller.
//
// Block-scaled operands (MXFP8, MXFP4, NVFP4) have a factor of 8 bits for each 32 or 16 elements of
// a row along K, which Blackwell's tensor cores multiply: problem/block_scaled.hpp.
#pragma once

#include <cstdint>

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw {

/// Which elements share a scale.
enum class scaling : std::uint8_t {
  tensor,         // all of an operand
  row,            // a row of A, a column of B: those of one row or column of D
  block_1x128,    // 128 elements along K
  block_128x128,  // 128 rows of A or columns of B, and 128 elements along K
  other           // blocks of another size
};

/// The place of each scale of an operand; strides in elements of the scale tensor.
struct scale_desc {
  elem type = elem::f32;                        // f32 or ue8m0; ue4m3 of NVFP4
  std::int64_t block_outer = 0, block_k = 0;    // 0: the whole extent
  std::int64_t stride_outer = 0, stride_k = 0;  // from a block to the next
  /// Blocks along K that are adjacent in memory: 4 where an int32 holds four ue8m0, of which the
  /// lowest byte is the first. stride_k then leads from such a group to the next.
  int packed_k = 1;
  std::int64_t batch_stride = 0;  // from a matrix of a batch to the next; 0: the same scales
  /// The order 32x4x4 of tcgen05: tiles of 128 rows and 4 blocks of K, 512 bytes each, in which row
  /// r and block b have byte 16 (r % 32) + 4 (r / 32) + b. stride_outer leads to the next 128 rows,
  /// stride_k to the next 4 blocks; block_outer is 1.
  bool tiled = false;
  /// NVFP4: all of these scales are multiplied by one float32, gemm_operands::second_level_a or _b.
  bool second_level = false;

  bool operator==(scale_desc const&) const = default;
};

/// Columns of a row of D that share a scale, where not all do.
inline constexpr int scale_block_cols = 128;

/// Scales of a D of 8 bits over (m, n): an element is decoded as D(m,n) times its scale, and D and
/// the scales are those of problem/quantize.hpp for the result in float32. The outer index of
/// `desc` is m, its k is n.
struct output_scales {
  scale_desc desc;
  bool given =
      false;  // one float32 scale that the caller gives; else of each block's amax, written
  bool power_of_two = false;

  bool operator==(output_scales const&) const = default;
};

/// Rows and blocks of K of a tile of the order 32x4x4, and its bytes.
inline constexpr std::int64_t scale_tile_rows = 128, scale_tile_blocks = 4, scale_tile_bytes = 512;

/// Byte of row r and block b within their tile of the order 32x4x4.
TW_HD constexpr std::int64_t offset_in_scale_tile(std::int64_t r, std::int64_t b) {
  return r % 32 * 16 + r % scale_tile_rows / 32 * 4 + b % scale_tile_blocks;
}

/// Blocks that cover an extent.
TW_HD constexpr std::int64_t blocks_in(std::int64_t extent, std::int64_t block) {
  return divide_up(extent, block);
}

/// The block that index i is in.
TW_HD constexpr std::int64_t scale_block(std::int64_t block, std::int64_t i) {
  return block == 0 ? 0 : i / block;
}
/// Scales along an extent.
constexpr std::int64_t scale_blocks(std::int64_t block, std::int64_t extent) {
  return block == 0 ? 1 : blocks_in(extent, block);
}

/// Where the scale of element (outer, k) lies: m or n, then k.
TW_HD constexpr std::int64_t scale_offset(scale_desc const& s, std::int64_t outer, std::int64_t k,
                                          std::int64_t batch = 0) {
  std::int64_t const kb = scale_block(s.block_k, k);
  if (s.tiled)
    return batch * s.batch_stride + outer / scale_tile_rows * s.stride_outer +
           kb / scale_tile_blocks * s.stride_k + offset_in_scale_tile(outer, kb);
  return batch * s.batch_stride + scale_block(s.block_outer, outer) * s.stride_outer +
         kb / s.packed_k * s.stride_k + kb % s.packed_k;
}

constexpr scaling scaling_of(scale_desc const& s) {
  if (s.block_outer == 0 && s.block_k == 0) return scaling::tensor;
  if (s.block_outer == 1 && s.block_k == 0) return scaling::row;
  if (s.block_outer == 1 && s.block_k == 128) return scaling::block_1x128;
  if (s.block_outer == 128 && s.block_k == 128) return scaling::block_128x128;
  return scaling::other;
}

/// The scales of all elements, described with the fewest blocks: an extent with one block has none.
/// Two descriptions give each element of an operand the same scale exactly where these are equal.
constexpr scale_desc canonical(scale_desc s, std::int64_t outer, std::int64_t k) {
  if (s.tiled) return s;
  if (scale_blocks(s.block_outer, outer) == 1) s.block_outer = 0, s.stride_outer = 0;
  if (scale_blocks(s.block_k, k) == 1) s.block_k = 0, s.stride_k = 0, s.packed_k = 1;
  bool const one_group = scale_blocks(s.block_k, k) <= s.packed_k;
  if (s.packed_k != 1 && (one_group || s.stride_k == s.packed_k)) s.packed_k = 1, s.stride_k = 1;
  return s;
}

/// Elements of the scale tensor from its first to the last that is read, groups as a whole; of one
/// matrix.
constexpr std::int64_t scale_extent(scale_desc const& s, std::int64_t outer, std::int64_t k) {
  if (s.tiled)
    return (blocks_in(outer, scale_tile_rows) - 1) * s.stride_outer +
           (blocks_in(scale_blocks(s.block_k, k), scale_tile_blocks) - 1) * s.stride_k +
           scale_tile_bytes;
  std::int64_t const groups = blocks_in(scale_blocks(s.block_k, k), s.packed_k);
  return (scale_blocks(s.block_outer, outer) - 1) * s.stride_outer + (groups - 1) * s.stride_k +
         s.packed_k;
}

}  // namespace tw
