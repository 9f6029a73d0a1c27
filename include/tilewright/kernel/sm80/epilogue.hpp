// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  The epilogue of the Ampere GEMM: epilogue tiles, 16 rows of a warp's block, are
//               computed in registers, staged in shared memory and stored by lines. The formula and
//               its parts are those of the Hopper kernels (kernel/epilogue).
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/formula.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/sm80/config.hpp"
#include "tilewright/kernel/sm80/params.hpp"

namespace tw {

/// 16 bytes that are moved at once, and 8.
struct alignas(16) sm80_chunk {
  words::b32 w[4];
};
using sm80_pair [[gnu::may_alias]] = std::uint64_t;

template <sm80_config C>
struct sm80_epilogue {
  static constexpr bool gated = C.gated();
  static constexpr int rows = 16, cols = C.warp_d_cols();  // of an epilogue tile
  static constexpr int sums = C.warp_n() / 2;              // of a thread
  static constexpr int results = cols / 2;                 // that they become
  static_assert(!gated || C.warp_n() % 16 == 0, "[TW0226] a warp has gates and what they multiply");
  using element = typename word_of_bytes<size_bytes(C.d)>::type;

  /// A line of a staged tile, 8 elements longer than its columns: the rows that a warp writes at
  /// once, and the chunks that it reads, lie in different banks.
  static constexpr int pitch = cols + 8;
  /// Is C of 16 bits read in pairs of columns? With a D of 32 bits ptxas spilled 4 to 8 bytes.
  static constexpr bool reads_pairs = size_bytes(C.d) == 2;
  struct smem {
    alignas(16) element staged[C.threads() / 32][rows * pitch];
  };

  /// Stores a warp's sums of the tile at D(at), fragment (4, m, n). All warps call it: shared
  /// memory may hold operands until they have.
  template <class Sums>
  TW_DEVICE static void store(sm80_params const& p, smem& s, fragment_place at, Sums& acc) {
    cta_sync();
    element* const tile = s.staged[warp_id()];
    int const row = at.row + C.warp_m() * (warp_id() % C.warps_m);
    int const col = at.col + cols * (warp_id() / C.warps_m);
    unrolled<C.warp_m() / rows>([&](auto i) {
      float x[sums];
      TW_UNROLL
      for (int v = 0; v < sums; ++v) x[v] = value_of(acc(v % 4, i, v / 4));
      fragment_place const to{row + rows * i, col, at.batch};
      make_x(p.epilogue, to, x);
      alignas(8) float y[results];
      if constexpr (C.aux()) {
        unrolled<gated ? 2 : 1>([&](auto part) {
          TW_UNROLL
          for (int r = 0; r < results; ++r) y[r] = x[sum_of(r) + 4 * part];
          if constexpr (i > 0 || part > 0) warp_sync();  // the tile before was read
          stage(tile, y);
          warp_sync();
          store_tile(p.epilogue, tile, to, aux_at(p, to, part));
        });
      }
      make_y(p.epilogue, to, x, y);
      if constexpr (i > 0 || C.aux()) warp_sync();  // the tile before was read
      stage(tile, y);
      warp_sync();
      store_tile(p.epilogue, tile, to, d_at(p, to));
    });
  }

 private:
  TW_DEVICE static float value_of(float sum) { return sum; }
  TW_DEVICE static float value_of(f16 sum) { return to_float<elem::f16>(sum.bits); }

  /// The sum that becomes result r, or its gate; what that multiplies is 4 after it.
  TW_DEVICE static constexpr int sum_of(int r) { return gated ? r / 4 * 8 + r % 4 : r; }

  /// Where the thread's first result of an epilogue tile at D(at) lies.
  TW_DEVICE static fragment_place of_thread(fragment_place at) {
    return {at.row + lane_id() / 4, at.col + accumulator_map::col_of(lane_id()), at.batch};
  }

  /// An epilogue tile's sums become x of problem/epilogue.hpp; without a fused epilogue that is D,
  /// not rounded yet.
  TW_DEVICE static void make_x(epilogue_params const& p, fragment_place at, float (&x)[sums]) {
    bool const later = C.fused() && bias_takes_alpha(p);
    TW_UNROLL
    for (int i = 0; i < sums; ++i) x[i] = times_alpha(later ? 1.0F : p.alpha, x[i]);
    fragment_place const mine = of_thread(at);
    if constexpr (C.fused()) scale_and_bias(p, mine, x);
    if constexpr (!gated)  // C of a gate comes last
      if (p.c.data != nullptr && !(C.fused() && p.fused.c_last))
        add_c<sums, reads_pairs>(p, mine, p.n, x, 0);
  }

  /// D, not rounded yet, from x.
  TW_DEVICE static void make_y(epilogue_params const& p, fragment_place at, float const (&x)[sums],
                               float (&y)[results]) {
    if constexpr (C.fused()) {
      with_activation<C.gated()>(p.fused.act, [&](auto act) {
        TW_UNROLL
        for (int r = 0; r < results; ++r) {
          int const i = sum_of(r);
          y[r] = gated ? act(x[i]) * act.up(x[i + 4]) : act(x[i]);
        }
      });
      if (p.c.data != nullptr && p.fused.c_last)
        add_c<results, reads_pairs>(p, of_thread(at), p.n, y, 0);
    } else {
      TW_UNROLL
      for (int r = 0; r < results; ++r) y[r] = x[r];
    }
  }

  /// x but for C. The scales of the requested GEMM's rows come first.
  TW_DEVICE static void scale_and_bias(epilogue_params const& p, fragment_place at,
                                       float (&x)[sums]) {
    fused_params const& f = p.fused;
    TW_NO_UNROLL
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == f.col_scale_first) {
        if (f.col_scale != nullptr)
          each(x, [&](int i, float y) {
            return y * f.col_scale[col_of(p, at, i) * f.col_scale_step];
          });
      } else if (f.row_scale != nullptr) {
        each(x,
             [&](int i, float y) { return y * f.row_scale[row_of(p, at, i) * f.row_scale_step]; });
      }
    }
    float const with_bias = bias_takes_alpha(p) ? p.alpha : 1.0F;
    if (f.bias != nullptr)
      each(x, [&](int i, float y) {
        int const of = f.bias_rows ? row_of(p, at, i) : col_of(p, at, i);
        return fmaf(with_bias, y, load_as_float(f.bias, f.bias_type, of));
      });
  }
  template <class F>
  TW_DEVICE static void each(float (&x)[sums], F f) {
    TW_UNROLL
    for (int i = 0; i < sums; ++i) x[i] = f(i, x[i]);
  }
  /// The row of D that sum i is of, and the column of A B, or the last ones.
  TW_DEVICE static int row_of(epilogue_params const& p, fragment_place at, int i) {
    int const row = at.row + accumulator_map::row_of_register(i);
    return row < p.m ? row : p.m - 1;
  }
  TW_DEVICE static int col_of(epilogue_params const& p, fragment_place at, int i) {
    int const of = gated ? i / 8 * 4 + i % 4 : i;
    int col = at.col + accumulator_map::col_of_register(of);
    col = col < p.n ? col : p.n - 1;
    return gated ? col * p.fused.gate_step + i / 4 % 2 * p.fused.up_offset : col;
  }

  /// A thread's results of an epilogue tile, rounded, two neighbours at a time.
  TW_DEVICE static void stage(element* tile, float const (&x)[results]) {
    fragment_place const mine = of_thread({0, 0, 0});
    TW_UNROLL
    for (int i = 0; i < results; i += 2) {
      element* const to = tile + (mine.row + accumulator_map::row_of_register(i)) * pitch +
                          mine.col + accumulator_map::col_of_register(i);
      if constexpr (holds_float_sums(C.d)) {
        *reinterpret_cast<sm80_pair*>(to) = *reinterpret_cast<sm80_pair const*>(x + i);
      } else {
        *reinterpret_cast<words::b32*>(to) = pack2<C.d>(x[i], x[i + 1]);
      }
    }
  }

  /// Where results of an epilogue tile go, in a row-major matrix.
  struct destination {
    element* first;
    std::int64_t pitch;
    int col_step;  // from a result of a row to the next
    bool chunks;   // they are neighbours, and lines begin at multiples of 16 bytes
  };
  TW_DEVICE static destination d_at(sm80_params const& p, fragment_place at) {
    epilogue_params const& e = p.epilogue;
    auto* matrix = static_cast<element*>(e.data) + at.batch * e.batch_stride;
    if (C.by_pointers() && e.matrices != nullptr)
      matrix = static_cast<element*>(e.matrices[at.batch]);
    return {matrix + at.row * e.pitch + at.col, e.pitch, 1, p.d_chunks != 0};
  }
  /// In the auxiliary output: of x, or with a gate of gates (part 0) or what they multiply (1).
  TW_DEVICE static destination aux_at(sm80_params const& p, fragment_place at, int part) {
    fused_params const& f = p.epilogue.fused;
    int const step = gated ? f.gate_step : 1;
    return {static_cast<element*>(f.aux) + at.batch * f.aux_batch_stride + at.row * f.aux_pitch +
                at.col * step + (gated ? part * f.up_offset : 0),
            f.aux_pitch, step, p.aux_chunks != 0};
  }

  /// Stores the part of an epilogue tile at D(at) that is inside: 16 bytes at a time, or single
  /// elements where lines begin elsewhere, or a line ends in the tile.
  TW_DEVICE static void store_tile(epilogue_params const& e, element const* tile, fragment_place at,
                                   destination const& to) {
    constexpr int chunk = 16 / static_cast<int>(sizeof(element)), chunks = cols / chunk;
    static_assert(rows * chunks % 32 == 0, "[TW0226] lanes store whole rows of an epilogue tile");
    int const m = e.m - at.row, n = e.n - at.col;  // left of D
    if (to.chunks && n >= cols) {
      TW_UNROLL
      for (int i = 0; i < rows * chunks; i += 32) {
        int const row = (i + lane_id()) / chunks, col = chunk * ((i + lane_id()) % chunks);
        if (row < m)
          *reinterpret_cast<sm80_chunk*>(to.first + row * to.pitch + col) =
              *reinterpret_cast<sm80_chunk const*>(tile + row * pitch + col);
      }
      return;
    }
    TW_NO_UNROLL
    for (int i = lane_id(); i < rows * cols; i += 32) {
      int const row = i / cols, col = i % cols;
      if (row < m && col < n)
        to.first[row * to.pitch + col * to.col_step] = tile[row * pitch + col];
    }
  }
};

}  // namespace tw
