// SPDX-License-Identifier: Apache-2.0
// factors.hpp  Scales of block-scaled operands, copied to the order that tcgen05 reads.
//
// A thread writes four bytes, the scales of a row for four blocks of K; bytes of no block become 0.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/repitch/params.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

struct copy_factors {
  using params = factor_params;
  static constexpr int threads = 128;
  static constexpr int cluster = 1;
  static constexpr int smem_bytes = 0;

  /// CTAs that copy the scales of operand x, and of both: they share no CTA.
  TW_HD static constexpr int ctas(factors_of const& x) {
    if (x.to == nullptr) return 0;
    return static_cast<int>((words_of(x) * x.matrices + threads - 1) / threads);
  }
  TW_HD static constexpr int ctas(params const& p) {
    return ctas(p.operand[0]) + ctas(p.operand[1]);
  }

  /// In a grid of ctas(p) CTAs.
  TW_DEVICE static void run(params const& p) {
    if constexpr (dependent_launches()) {
      grid_dependents_launch();  // the GEMM may set itself up meanwhile
      grid_dependency_wait();    // the launch before may write the scales, or read the copies
    }
    int const of_first = ctas(p.operand[0]);
    int const which = cta_id() < of_first ? 0 : 1;
    factors_of const& x = p.operand[which];
    std::int64_t const i = std::int64_t{cta_id() - which * of_first} * threads + thread_id();
    if (i < words_of(x) * x.matrices) copy(x, i);
  }

 private:
  static constexpr int rows_of_tile = scale_tile_rows, blocks_of_tile = scale_tile_blocks;

  TW_HD static constexpr std::int64_t along_k(factors_of const& x) {
    return blocks_in(x.blocks, blocks_of_tile);
  }
  /// Of four bytes, of a matrix.
  TW_HD static constexpr std::int64_t words_of(factors_of const& x) {
    return blocks_in(x.rows, rows_of_tile) * along_k(x) * rows_of_tile;
  }

  /// Word i of all: (row % 128 / 32, row % 32, tile along K, tile of rows, matrix), the first
  /// fastest.
  TW_DEVICE static void copy(factors_of const& x, std::int64_t i) {
    std::int64_t const matrix = i / words_of(x), in_matrix = i % words_of(x);
    std::int64_t const tile = in_matrix / rows_of_tile, in_tile = in_matrix % rows_of_tile;
    std::int64_t const row = tile / along_k(x) * rows_of_tile + in_tile % 4 * 32 + in_tile / 4;
    std::int64_t const block = tile % along_k(x) * blocks_of_tile;
    auto const* const from = static_cast<words::b8 const*>(x.from) + matrix * x.batch_stride;
    std::int64_t const source = source_of(x, row);
    std::uint32_t word = 0;
    TW_UNROLL
    for (int b = 0; b < blocks_of_tile; ++b)
      if (source >= 0 && block + b < x.blocks)
        word |= static_cast<std::uint32_t>(from[offset_of(x, source, block + b)]) << 8 * b;
    static_cast<words::b32*>(x.to)[i] = word;
  }
  /// The row of `from` whose scales row `row` of the copy has, or -1.
  TW_DEVICE static std::int64_t source_of(factors_of const& x, std::int64_t row) {
    if (row >= x.rows) return -1;
    if (x.half == 0) return row;
    std::int64_t const first_up = x.rows / 2, part = row < first_up ? 0 : 1;
    std::int64_t const in_part = row - part * first_up;
    return in_part < x.half ? in_part * x.gate_step + part * x.up_offset : -1;
  }
  /// As scale_offset of problem/scale.hpp.
  TW_DEVICE static std::int64_t offset_of(factors_of const& x, std::int64_t row,
                                          std::int64_t block) {
    if (!x.tiled) return row * x.stride_outer + block * x.stride_k;
    return row / rows_of_tile * x.stride_outer + block / blocks_of_tile * x.stride_k +
           offset_in_scale_tile(row, block);
  }
};

}  // namespace tw
