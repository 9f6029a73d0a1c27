// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  From accumulators to D: alpha * acc + beta * C, rounded once, through shared memory
//               and TMA; or by plain stores where TMA cannot address D or would write beyond it.
#pragma once

#include <math.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/kernel/params.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {

/// Two staging boxes per warpgroup: 64 rows of 128 bytes, 128-byte swizzle.
template <int Warpgroups>
struct epilogue_smem {
  alignas(1024) std::byte box[Warpgroups][2][64 * 128];
};

template <elem D>
struct epilogue {
  static constexpr int box_cols = 128 / size_bytes(D);  // columns of D in one box
  /// (row, column) of a box -> its element in shared memory, as TMA's 128-byte swizzle reads it.
  static constexpr layout box_layout = size_bytes(D) == 2
                                           ? swizzled(make_swizzle(3, 3, 3), "(64,64):(64,1)"_L)
                                           : swizzled(make_swizzle(3, 2, 3), "(64,32):(32,1)"_L);

  /// Stores a warpgroup's (64, N) tile whose first element is D(row, col). `turn` (0 at first) is
  /// the staging box that comes next: an odd number of boxes leaves the other one to the next tile.
  template <int N, int Warpgroups>
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<Warpgroups>& s, int warpgroup,
                              int row, int col, accumulator<N>& acc, int& turn) {
    scale(p, row, col, acc);
    TW_UNROLL
    for (int j = 0; j < N / box_cols; ++j) {
      int const c = col + j * box_cols;  // uniform in the CTA, and so is the branch
      if (c + box_cols <= p.tma_cols)
        store_box(p, s.box[warpgroup][(j + turn) % 2], 1 + warpgroup, row, c, acc, j);
      else
        store_plain(p, row, c, acc, j);
      if (leader()) tma_store_commit();  // an empty group after plain stores keeps the count
    }
    if constexpr (N / box_cols % 2 != 0) turn ^= 1;
  }

  /// After the last tile: the staging boxes have been read, the CTA may exit.
  TW_DEVICE static void finish() {
    if (thread_id() % 128 == 0) tma_store_wait_read<0>();
  }

 private:
  /// Row and column, in the tile, of a thread's first element; element i adds 8 * (i>>1 & 1) rows
  /// and 8 * (i>>2) + (i & 1) columns (see accumulator).
  TW_DEVICE static int first_row() { return 16 * (warp_id() % 4) + lane_id() / 4; }
  TW_DEVICE static int first_col() { return 2 * (lane_id() % 4); }

  TW_DEVICE static float load_c(c_view const& c, int row, int col) {
    std::int64_t const i = row * c.row_stride + col * c.col_stride;
    if (c.type == elem::f32) return static_cast<float const*>(c.data)[i];
    std::uint16_t const bits = static_cast<std::uint16_t const*>(c.data)[i];
    return c.type == elem::bf16 ? to_float<elem::bf16>(bits) : to_float<elem::f16>(bits);
  }

  template <int N>
  TW_DEVICE static void scale(epilogue_params const& p, int row, int col, accumulator<N>& acc) {
    TW_UNROLL
    for (int i = 0; i < N / 2; ++i) acc[i] = p.alpha * acc[i];
    if (p.c.data == nullptr) return;
    TW_UNROLL
    for (int i = 0; i < N / 2; ++i) {
      int const r = row + first_row() + 8 * (i >> 1 & 1);
      int const c = col + first_col() + 8 * (i >> 2) + (i & 1);
      if (r < p.m && c < p.n) acc[i] = fmaf(p.beta, load_c(p.c, r, c), acc[i]);
    }
  }

  TW_DEVICE static bool leader() { return thread_id() % 128 == 0; }

  /// Box j of the tile, at D(row, col), by plain stores.
  template <int N>
  TW_DEVICE static void store_plain(epilogue_params const& p, int row, int col, accumulator<N>& acc,
                                    int j) {
    TW_UNROLL
    for (int i = 0; i < box_cols / 2; ++i) {
      int const r = row + first_row() + 8 * (i >> 1 & 1);
      int const c = col + first_col() + 8 * (i >> 2) + (i & 1);
      if (r >= p.m || c >= p.n) continue;
      std::int64_t const at = r * p.pitch + c;
      float const value = acc[j * box_cols / 2 + i];
      if constexpr (D == elem::f32)
        static_cast<float*>(p.data)[at] = value;
      else
        static_cast<std::uint16_t*>(p.data)[at] = static_cast<std::uint16_t>(pack2<D>(value, 0.0F));
    }
  }

  /// Box j of the tile, at D(row, col), through shared memory. Two boxes take turns.
  template <int N>
  TW_DEVICE static void store_box(epilogue_params const& p, std::byte* box, int barrier, int row,
                                  int col, accumulator<N>& acc, int j) {
    if (leader()) tma_store_wait_read<1>();  // the store before last has read this box
    named_barrier_sync(barrier, 128);
    if constexpr (size_bytes(D) == 2)
      fill_box_16(box, acc, j);
    else
      fill_box_32(box, acc, j);
    fence_proxy_async();  // the writes above are for the async proxy
    named_barrier_sync(barrier, 128);
    if (leader() && row < p.m) tma_store(p.d, box, tma_coord{col, row});
  }

  /// 16-bit D: columns 64j .. 64j+63 as four stmatrix of 16 columns.
  template <int N>
  TW_DEVICE static void fill_box_16(std::byte* box, accumulator<N>& acc, int j) {
    auto* const s = reinterpret_cast<std::uint16_t*>(box);  // (64, 64)
    int const row = 16 * (warp_id() % 4) + lane_id() % 16;
    int const half = lane_id() / 16;
    TW_UNROLL
    for (int q = 0; q < 4; ++q) {
      int const i = 32 * j + 8 * q;
      b32<4> const v{{pack2<D>(acc[i], acc[i + 1]), pack2<D>(acc[i + 2], acc[i + 3]),
                      pack2<D>(acc[i + 4], acc[i + 5]), pack2<D>(acc[i + 6], acc[i + 7])}};
      stmatrix<4>(s + offset<box_layout>(row, 16 * q + 8 * half), v);
    }
  }

  /// 32-bit D: columns 32j .. 32j+31, two at a time.
  template <int N>
  TW_DEVICE static void fill_box_32(std::byte* box, accumulator<N>& acc, int j) {
    auto* const s = reinterpret_cast<float*>(box);  // (64, 32)
    TW_UNROLL
    for (int i = 0; i < 16; i += 2) {
      int const row = first_row() + 8 * (i >> 1 & 1);
      float* const at = s + offset<box_layout>(row, first_col() + 8 * (i >> 2));
      at[0] = acc[16 * j + i];
      at[1] = acc[16 * j + i + 1];
    }
  }
};

}  // namespace tw
