// SPDX-License-Identifier: Apache-2.0
// d_box.hpp  The box in which D leaves shared memory: its shape, swizzle and layout.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/atom/smem_atom.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/problem/groups.hpp"

namespace tw {

/// A warpgroup's fragment of D is (64, d_cols), with a gate of rows (32, d_cols). It is stored in
/// epilogue tiles of these rows x `cols`, each one or two boxes of `rows` x `cols`. The contiguous
/// side of a box (columns of a row-major D, rows of an M-major one) is one swizzle span, or has no
/// swizzle and an odd number of 16-byte units.
struct d_box {
  int rows, cols;
  swizzle_mode swizzle;
  bool m_major;
  int fragment_rows = wgmma_m;

  TW_HD constexpr int boxes() const { return fragment_rows / rows; }  // per epilogue tile
  TW_HD constexpr int bytes(elem d) const { return rows * cols * size_bytes(d); }
};

/// The widest box that divides the tile: issuing one takes 150 cycles (docs/decisions/0030).
TW_HD constexpr d_box d_box_of(gemm_config const& c) {
  int const span = traits_of(c.d).span();
  if (c.d_m) {
    auto const widest = [&](int cols) {
      while (cols > wgmma_n_step && c.d_cols() % cols != 0) cols -= wgmma_n_step;
      return cols;
    };
    if (c.gates_rows()) return {c.d_rows(), widest(wgmma_m), swizzle_mode::b64, true, c.d_rows()};
    int const rows = span < wgmma_m ? span : wgmma_m;  // of 8-bit elements half a span
    int const cols = widest(rows);                     // wider ones take registers
    return {rows, cols < rows / 2 && c.d_cols() > cols ? widest(rows / 2 * 3) : cols,
            rows == span ? swizzle_mode::b128 : swizzle_mode::b64, true};
  }
  if (c.d_cols() % span == 0) return {wgmma_m, span, swizzle_mode::b128, false};
  if (c.d_cols() % (span / 2) == 0) return {wgmma_m, span / 2, swizzle_mode::b64, false};
  // Without a swizzle, rows of an odd number of 16-byte units lie in different banks.
  for (int cols = 15 * span / 8; cols > span / 4; cols -= span / 8)
    if (c.d_cols() % cols == 0 && cols / traits_of(c.d).chunk() % 2 == 1 && size_bytes(c.d) == 2)
      return {wgmma_m, cols, swizzle_mode::none, false};
  if (c.d_cols() % (span / 4) == 0) return {wgmma_m, span / 4, swizzle_mode::b32, false};
  return {wgmma_m, span / 8, swizzle_mode::none, false};
}

/// Results of a thread in an epilogue tile.
TW_HD constexpr int results_of_tile(gemm_config const& c) {
  return c.d_rows() * d_box_of(c).cols / warpgroup_threads;
}

/// The staging buffers of each consumer warpgroup: groups of them are written at once, with one
/// fence and one barrier; with two halves one is written while TMA reads the other.
struct staging {
  int group;   // epilogue tiles; divides those of a tile. 0: not even one fits
  int halves;  // 1 or 2

  TW_HD constexpr int tiles() const { return group * halves; }
};

/// Epilogue tiles of a warpgroup's part of a tile.
TW_HD constexpr int epilogue_tiles_of(gemm_config const& c) {
  return c.d_cols() / d_box_of(c).cols * c.fragments();
}

/// The most staging buffers of a warpgroup, at most `room`, that divide its epilogue tiles.
TW_HD constexpr int dividing_buffers(gemm_config const& c, int room) {
  int const of_tile = epilogue_tiles_of(c);
  int n = of_tile;
  while (n > 0 && (of_tile % n != 0 || n > room)) --n;
  return n;
}

/// The number of staging buffers of each warpgroup that fit in shared memory with the stages.
TW_HD constexpr int staging_room(gemm_config const& c) {
  d_box const box = d_box_of(c);
  // Of max_smem_bytes: barriers, flags, alignment; a table of groups; the vectors of an epilogue.
  int const vectors = 2 * size_bytes(elem::f32) * box.cols * (c.gates_cols() ? 2 : 1);
  int const rest = 2048 + c.scale_bytes() + (c.grouped() ? group_table_bytes : 0) +
                   (c.fused() ? c.math_warpgroups() * vectors : 0);
  int const tile = wgmma_m * box.cols * size_bytes(c.d) * c.math_warpgroups();
  int const stages = c.stages * c.stage_bytes();
  int const exchange = c.cluster_k > 1 ? 4 * c.tile_m * c.part_n() * c.cluster_k : 0;
  return (max_smem_bytes - rest - stages - exchange) / tile;
}

/// The largest groups for which shared memory has room beside the stages. Two halves are worth
/// groups of half the size, but less than all epilogue tiles of an M-major tile, or of consumers
/// that end a tile together: the second group would wait until TMA has read the first
/// (docs/decisions/0086-all-of-d-staged-at-once.md).
TW_HD constexpr staging staging_of(gemm_config const& c) {
  if (c.fused()) return {1, c.scaled() ? 1 : 2};
  int const room = staging_room(c);
  int const alone = dividing_buffers(c, room), halved = dividing_buffers(c, room / 2);
  if ((d_box_of(c).m_major || c.in_turn()) && alone == epilogue_tiles_of(c)) return {alone, 1};
  return 2 * halved >= alone && halved > 0 ? staging{halved, 2} : staging{alone, 1};
}

/// The staging buffers of each warpgroup. C by TMA lands in all that shared memory has room for.
TW_HD constexpr int staging_buffers(gemm_config const& c) {
  int const stored = staging_of(c).tiles();
  int const loaded = c.fused() && c.loads_c() ? dividing_buffers(c, staging_room(c)) : 0;
  return stored > loaded ? stored : loaded;
}

/// The staging buffers of each warpgroup that C by TMA lands in. Each has equally many epilogue
/// tiles.
TW_HD constexpr int c_buffers_of(gemm_config const& c) {
  return dividing_buffers(c, staging_buffers(c));
}

/// (row, column) of a box -> its element in shared memory, as TMA reads it.
TW_HD constexpr layout d_box_layout(gemm_config const& c) {
  d_box const b = d_box_of(c);
  layout const plain = b.m_major ? make_layout(make_shape(b.rows, b.cols), make_tree(1, b.rows))
                                 : make_layout(make_shape(b.rows, b.cols), make_tree(b.cols, 1));
  return swizzled(from_bytes(byte_swizzle(smem_swizzle_of(b.swizzle)), traits_of(c.d).bits), plain);
}

}  // namespace tw
