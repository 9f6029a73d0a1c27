// SPDX-License-Identifier: Apache-2.0
// block_result.hpp  The epilogue of a Blackwell GEMM whose D is MXFP8 or MXFP4: a thread has a row
//                   of the accumulator, so a block of 32 columns and its factor are one thread's.
//
// D and its factors go to global memory from registers: the 64 columns that a thread takes at a
// time are 64 or 32 bytes of a row, whole sectors of 32 bytes. Factors lie in the order 32x4x4;
// those of rows and blocks beyond D are written as 0, for which a tile covers whole groups of 128
// rows and 128 columns. NVFP4 cannot be computed here: its factors depend on the largest element of
// D.
#pragma once

#include "tilewright/kernel/quantize/block_code.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/kernel/sm100/roles.hpp"
#include "tilewright/problem/scale.hpp"

namespace tw {

template <block_format F, class Base>
struct sm100_block_result : Base {
  using code = block_code<F>;
  static constexpr int rows = Base::rows, cols = Base::cols;  // of a warp; at a time
  static constexpr int blocks = cols / code::elems;
  static constexpr int box_bytes = sm100_cta::unstaged_box_bytes;
  static_assert(F != block_format::nvfp4 && cols == 64);

  /// The columns of a tile, of which `left` are D's, that have a place in the factors.
  TW_DEVICE static int covered(int left, int tile_n) {
    int const all = (left + scale_block_cols - 1) / scale_block_cols * scale_block_cols;
    return all < tile_n ? all : tile_n;
  }

  /// Writes a thread's 64 columns from `at` on: x where they are D's.
  TW_DEVICE static void write(epilogue_params const& p, fragment_place at, float (&x)[cols]) {
    int const row = at.row + lane_id();
    constexpr int tile_rows = scale_tile_rows;
    // Of the second CTA of a pair.
    if (at.row >= (p.m + tile_rows - 1) / tile_rows * tile_rows) return;
    TW_UNROLL
    for (int b = 0; b < blocks; ++b) {
      int const col = at.col + b * code::elems;
      int const count = p.n - col;  // inside
      bool const there = row < p.m && count > 0;
      std::uint8_t factor = 0;
      if (there) {
        TW_UNROLL
        for (int j = 0; j < code::elems; ++j)
          if (j >= count) x[b * code::elems + j] = 0.0F;
        code const c = code_of_block<F>(x + b * code::elems, 1.0F);
        store_values(p, row, col, at.batch, count, c);
        factor = c.factor;
      }
      *factor_at(p.scales, row, col / code::elems, at.batch) = factor;
    }
  }

 private:
  TW_DEVICE static void store_values(epilogue_params const& p, int row, int col, int batch,
                                     int count, code const& c) {
    std::int64_t const elem_at = batch * p.batch_stride + row * p.pitch + col;
    auto* const to = static_cast<std::uint8_t*>(p.data) + elem_at * code::bits / 8;
    struct alignas(16) chunk {
      std::uint32_t w[4];
    };
    if (count >= code::elems && reinterpret_cast<std::uintptr_t>(to) % sizeof(chunk) == 0) {
      TW_UNROLL
      for (int w = 0; w < code::words; w += 4)
        *reinterpret_cast<chunk*>(to + 4 * w) = {
            {c.value[w], c.value[w + 1], c.value[w + 2], c.value[w + 3]}};
      return;
    }
    store_bytes(to, c, count);
  }

  TW_DEVICE static std::uint8_t* factor_at(result_scales const& s, int row, int block, int batch) {
    return static_cast<std::uint8_t*>(s.data) + batch * s.batch_stride +
           row / scale_tile_rows * s.stride_row + block / scale_tile_blocks * s.stride_block +
           offset_in_scale_tile(row, block);
  }
};

/// A block-scaled D comes without an auxiliary output.
struct no_aux {};

/// The four warps of this epilogue: sm100_roles::epilogue without a staged box.
template <class Roles, class Store, int TileN, int Ctas, int Accumulators, class Smem,
          class EachTile>
TW_DEVICE void block_result_epilogue(Smem& s, epilogue_params const& e, std::uint32_t tensor,
                                     int warp, float scale, EachTile&& each_tile) {
  enter_role("epilogue");
  int const part = Roles::quarter(warp);
  each_tile([&](tile_place const& tile, int i) {
    int const acc = i % Accumulators;
    std::uint32_t const from = tmem_at(tensor, part * Store::rows, acc * TileN);
    int const row = (tile.m * Ctas + Roles::rank()) * Roles::rows + part * Store::rows;
    int const first = tile.n * Store::tile_cols, left = e.n - first;  // columns of D
    int const cols = left < Store::tile_cols ? left : Store::tile_cols;
    int const covered = Store::covered(left, Store::tile_cols);
    s.acc_full[acc].wait(Roles::acc_phase(i));
    tcgen05_fence_after();
    TW_NO_UNROLL
    for (int c = 0; c < covered; c += Store::cols) {
      fragment_place const to{row, first + c, tile.batch};
      float x[Store::cols] = {};
      if (c < cols) {
        bool const last = c + Store::cols >= cols;
        auto const loaded = [&] {
          if (last) Roles::release(s.acc_free[acc]);
        };
        if (row < e.m)
          Store::results(e, tmem_at(from, 0, c), to, scale, loaded, no_aux{}, x);
        else
          loaded();
      }
      Store::write(e, to, x);
    }
  });
}

}  // namespace tw
