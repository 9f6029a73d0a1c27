// SPDX-License-Identifier: Apache-2.0
// ops.hpp  The fused part of an epilogue: scales, bias, activation, gate and C, an epilogue tile of
//                   D at a time. problem/epilogue.hpp has the formula, problem/fused_bound.hpp what
//                   rounding it may cost.
#pragma once

#include <math.h>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/formula.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"

namespace tw {

/// Where warps and warpgroups exchange the largest magnitudes of columns (quantize_columns.hpp);
/// kernels that do not have no such place.
template <gemm_config C>
struct column_magnitudes {};
template <gemm_config C>
requires(C.finds_amax_along_m()) struct column_magnitudes<C> {
  static constexpr int warps = warpgroup_threads / warp_threads;
  float amax[2][warps][d_box_of(C).cols];  // by turns
  float scale[d_box_of(C).cols];
};

/// The weights of columns, of kernels with groups of columns.
template <gemm_config C>
struct column_weights {};
template <gemm_config C>
requires(C.ragged == group_axis::n) struct column_weights<C> {
  float weight[d_box_of(C).cols];
};

/// The values of the vectors along columns that an epilogue tile needs.
template <gemm_config C>
struct column_vectors : column_magnitudes<C>, column_weights<C> {
  static constexpr int cols = d_box_of(C).cols * (C.gates_cols() ? 2 : 1);
  float scale[cols], bias[cols];
};

/// The index of row `row` of a fragment at D(at), or of the last row, in vectors along rows. Groups
/// of rows share a vector of all rows; of others each group has a vector.
template <gemm_config C>
TW_DEVICE int vector_row(epilogue_params const& p, fragment_place at, int row) {
  int const i = row < p.m ? row : p.m - 1;
  return C.ragged == group_axis::m ? i + at.shift : C.grouped() ? i + at.group * p.m : i;
}
/// The index of column `col` of A B, one of `cols`, in vectors along columns.
template <gemm_config C>
TW_DEVICE int vector_col(fragment_place at, int col, int cols) {
  return C.ragged == group_axis::n ? col + at.shift : C.grouped() ? col + at.group * cols : col;
}

/// The scale of a row, or of a column, whose index in vectors is i. Rows that groups divide have
/// the scales of the rows of A that are gathered.
template <gemm_config C>
TW_DEVICE float row_scale_at(epilogue_params const& p, int i) {
  fused_params const& f = p.fused;
  if constexpr (C.ragged == group_axis::m)
    return scale_of_token(p.group, f.row_scale, f.row_scale_step, i);
  else
    return f.row_scale[i * f.row_scale_step];
}
template <gemm_config C>
TW_DEVICE float col_scale_at(epilogue_params const& p, int i) {
  fused_params const& f = p.fused;
  if constexpr (C.ragged == group_axis::n)
    return scale_of_token(p.group, f.col_scale, f.col_scale_step, i);
  else
    return f.col_scale[i * f.col_scale_step];
}

/// The factor of the sums of a fragment at D(at): alpha, times its group's alpha.
template <gemm_config C>
TW_DEVICE float alpha_of(epilogue_params const& p, fragment_place at) {
  if constexpr (C.grouped()) {
    if (p.group.alpha != nullptr) return p.alpha * p.group.alpha[at.group];
  }
  return p.alpha;
}

/// The lines of C, and of D, that an index array may name.
TW_HD constexpr named_lines names_lines(gemm_config const& c) {
  if (!c.divides_d_lines()) return named_lines::none;
  return c.d_m ? named_lines::cols : named_lines::rows;
}

/// A warpgroup's fragment, in epilogue tiles of box.cols columns of D. With a gate, groups of 8
/// columns (of rows: of 8 rows) of A B are gates and what they multiply in turn.
template <gemm_config C>
class epilogue_ops {
 public:
  static constexpr bool gated = C.gates_cols(), gates_rows = C.gates_rows();
  static constexpr d_box box = d_box_of(C);
  static constexpr int results = results_of_tile(C);              // of a thread in an epilogue tile
  static constexpr int regs = C.gated() ? 2 * results : results;  // accumulators they come from
  using fragment = accumulator<C.part_n()>;
  using vectors = column_vectors<C>;
  /// Values of a vector that a thread fetches.
  static constexpr int fetched = (vectors::cols + warpgroup_threads - 1) / warpgroup_threads;

  /// Begins a fragment at D(at): fetches what its first tile needs.
  TW_DEVICE epilogue_ops(epilogue_params const& p, fragment_place at) { fetch(p, at); }

  /// Hands what was fetched for this tile to the warpgroup; a barrier must follow. Then fetches
  /// for the tile at `next`.
  TW_DEVICE void share(epilogue_params const& p, vectors& v, fragment_place next) {
    TW_UNROLL
    for (int i = 0; i < fetched; ++i) {
      int const t = thread_id() % warpgroup_threads + i * warpgroup_threads;
      if (t < vectors::cols) {
        if (p.fused.col_scale != nullptr) v.scale[t] = scale_[i];
        if (p.fused.bias != nullptr && !p.fused.bias_rows)
          v.bias[t] = bits_as_float(bias_[i], p.fused.bias_type);
        if constexpr (weighs_columns) {
          if (p.group.weight != nullptr) v.weight[t] = weight_[i];
        }
      }
    }
    fetch(p, next);
  }

  /// Adds beta * C to the thread's results acc[first] and following, of a tile at D(at). The thread
  /// loads its elements of C from global memory.
  struct c_by_threads {
    epilogue_params const& p;
    template <int Rows>
    TW_DEVICE void add(fragment_place at, fragment& acc, int first) const {
      add_c<results, C.reads_c_in_pairs(), names_lines(C), Rows>(p, of_thread(at), p.n, acc, first);
    }
  };

  /// Tile j at D(at): its accumulators, from j * regs, become x. `c` adds C.
  template <class AddC>
  TW_DEVICE static void make_x(epilogue_params const& p, vectors const& v, fragment_place at,
                               fragment& acc, int j, AddC const& c) {
    fused_params const& f = p.fused;
    int const first = j * regs;
    int const col = accumulator_map::col_of(lane_id());
    float const own_alpha = alpha_of<C>(p, at);
    bool const later = bias_takes_alpha(p, own_alpha);
    float const with_bias = later ? own_alpha : 1.0F;  // the factor in its addition
    float const alpha = later ? 1.0F : own_alpha;
    TW_UNROLL
    for (int i = 0; i < regs; ++i) acc[first + i] = times_alpha(alpha, acc[first + i]);
    // The scales of the rows of the requested GEMM come first: of a transposed one, which
    // this kernel may compute, those are columns. A loop, so that there is one copy of each.
    TW_NO_UNROLL
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == f.col_scale_first) {
        if (f.col_scale == nullptr) continue;
        TW_UNROLL
        for (int i = 0; i < regs; ++i)
          acc[first + i] *= v.scale[col + accumulator_map::col_of_register(i)];
      } else if (f.row_scale != nullptr) {
        float const s[2] = {row_scale_at<C>(p, row_of(p, at, 0)),
                            row_scale_at<C>(p, row_of(p, at, 1))};
        TW_UNROLL
        for (int i = 0; i < regs; ++i) acc[first + i] *= s[accumulator_map::row_index(i)];
      }
    }
    if (f.bias != nullptr && f.bias_rows) {
      rows_of_thread const b = row_bias(p, at);
      TW_UNROLL
      for (int i = 0; i < regs; ++i)
        acc[first + i] = fmaf(with_bias, acc[first + i], b.value[accumulator_map::row_index(i)]);
    } else if (f.bias != nullptr) {
      TW_UNROLL
      for (int i = 0; i < regs; ++i)
        acc[first + i] =
            fmaf(with_bias, acc[first + i], v.bias[col + accumulator_map::col_of_register(i)]);
    }
    if (p.c.data != nullptr && !f.c_last) c.template add<accumulator_map::rows>(at, acc, first);
  }

  TW_DEVICE static void make_x(epilogue_params const& p, vectors const& v, fragment_place at,
                               fragment& acc, int j) {
    make_x(p, v, at, acc, j, c_by_threads{p});
  }

  /// Has the simple kind a bias along rows? In M-major kernels, whose rows are columns of the
  /// requested GEMM; ping-pong 128x192 has no registers left for it.
  static constexpr bool simple_rows = C.d_m;

  /// Is there nothing but alpha (not 0), a bias, an activation and a gate?
  TW_DEVICE static bool is_simple(epilogue_params const& p, fragment_place at) {
    fused_params const& f = p.fused;
    if constexpr (C.grouped()) {
      if (p.group.weight != nullptr) return false;
    }
    return p.c.data == nullptr && f.row_scale == nullptr && f.col_scale == nullptr &&
           alpha_of<C>(p, at) != 0.0F && (simple_rows || f.bias == nullptr || !f.bias_rows);
  }

  /// Is D alpha (not 0) times the sums, and nothing else?
  TW_DEVICE static bool is_scaled_sum(epilogue_params const& p, fragment_place at) {
    return !C.gated() && is_simple(p, at) && p.fused.bias == nullptr &&
           p.fused.act == activation::none;
  }

  /// The simple kind: accumulators j * results and up become y, from the sums of tile j at D(at),
  /// in one go.
  template <class Act>
  TW_DEVICE static void make_simple(epilogue_params const& p, vectors const& v, fragment_place at,
                                    fragment& acc, int j, Act act) {
    int const first = j * regs, col = accumulator_map::col_of(lane_id());
    float const alpha = alpha_of<C>(p, at);
    if (p.fused.bias == nullptr) {
      TW_UNROLL
      for (int i = 0; i < regs; ++i) acc[first + i] = alpha * acc[first + i];
    } else if (simple_rows && p.fused.bias_rows) {
      rows_of_thread const b = row_bias(p, at);
      TW_UNROLL
      for (int i = 0; i < regs; ++i)
        acc[first + i] = fmaf(alpha, acc[first + i], b.value[accumulator_map::row_index(i)]);
    } else {
      TW_UNROLL
      for (int i = 0; i < regs; ++i)
        acc[first + i] =
            fmaf(alpha, acc[first + i], v.bias[col + accumulator_map::col_of_register(i)]);
    }
    each(acc, first, j * results, act);
  }

  /// The accumulator that holds result i of the tile whose first is `first`: x, or its gate; what
  /// that multiplies is 4 after it, with a gate of rows 2.
  TW_DEVICE static int register_of(int first, int i) {
    return first + (gated ? i >> 2 << 3 | (i & 3) : gates_rows ? i >> 1 << 2 | (i & 1) : i);
  }
  static constexpr int to_up = gates_rows ? 2 : 4;
  /// The column of result i, after the thread's first one.
  TW_DEVICE static int col_of_result(int i) {
    return accumulator_map::col_of_register(gates_rows ? register_of(0, i) : i);
  }

  /// Accumulators j * results and up become y, from x. `c` adds C.
  template <class AddC>
  TW_DEVICE static void make_y(epilogue_params const& p, vectors const& v, fragment_place at,
                               fragment& acc, int j, AddC const& c) {
    with_activation<C.gated()>(p.fused.act,
                               [&](auto act) { each(acc, j * regs, j * results, act); });
    if constexpr (C.grouped()) {
      if (p.group.weight != nullptr) weigh(p, v, at, acc, j * results);
    }
    if (p.c.data != nullptr && p.fused.c_last)
      c.template add<rows_of_results>(at, acc, j * results);
  }
  TW_DEVICE static void make_y(epilogue_params const& p, vectors const& v, fragment_place at,
                               fragment& acc, int j) {
    make_y(p, v, at, acc, j, c_by_threads{p});
  }

 private:
  static constexpr int rows_of_results = gates_rows ? 1 : accumulator_map::rows;
  static constexpr bool weighs_columns = C.ragged == group_axis::n;
  float scale_[fetched] = {};  // of columns of the next tile
  std::uint32_t bias_[fetched] = {};
  float weight_[weighs_columns ? fetched : 1] = {};

  /// The results from acc[to] on, times the weights of their rows, or of their columns.
  TW_DEVICE static void weigh(epilogue_params const& p, [[maybe_unused]] vectors const& v,
                              fragment_place at, fragment& acc, int to) {
    if constexpr (weighs_columns) {
      int const col = accumulator_map::col_of(lane_id());
      TW_UNROLL
      for (int i = 0; i < results; ++i) acc[to + i] *= v.weight[col + col_of_result(i)];
    } else {
      float const of_row[2] = {weight_of_token(p.group, row_of(p, at, 0)),
                               weight_of_token(p.group, row_of(p, at, 1))};
      TW_UNROLL
      for (int i = 0; i < results; ++i) acc[to + i] *= of_row[accumulator_map::row_index(i)];
    }
  }

  /// Where the thread's first result of a tile at D(at) lies.
  TW_DEVICE static fragment_place of_thread(fragment_place at) {
    int const row = gates_rows ? 8 * (warp_id() % 4) + lane_id() / 4
                               : accumulator_map::row_of(warp_id() % 4, lane_id());
    return at.below(row).right(accumulator_map::col_of(lane_id()));
  }

  /// The index in vectors of the thread's rows of a tile at D(at), or the last of D: r is 0 or 1;
  /// with a gate of rows the gate and up.
  TW_DEVICE static int row_of(epilogue_params const& p, fragment_place at, int r) {
    if constexpr (gates_rows) {
      int const row = of_thread(at).row, in_d = row < p.m ? row : p.m - 1;
      return in_d * p.fused.gate_step + r * p.fused.up_offset +
             (C.ragged == group_axis::n ? at.group * 2 * p.m : 0);
    }
    return vector_row<C>(p, at, of_thread(at).row + accumulator_map::row_distance * r);
  }
  struct rows_of_thread {
    float value[2];
  };
  TW_DEVICE static rows_of_thread row_bias(epilogue_params const& p, fragment_place at) {
    fused_params const& f = p.fused;
    return {{load_as_float(f.bias, f.bias_type, row_of(p, at, 0)),
             load_as_float(f.bias, f.bias_type, row_of(p, at, 1))}};
  }

  /// Column t of the tile at `at`, for thread t, and those a multiple of 128 after it.
  TW_DEVICE void fetch(epilogue_params const& p, fragment_place at) {
    fused_params const& f = p.fused;
    TW_UNROLL
    for (int i = 0; i < fetched; ++i) {
      int const t = thread_id() % warpgroup_threads + i * warpgroup_threads;
      int col = at.col + (gated ? t >> 4 << 3 | (t & 7) : t);
      if (t >= vectors::cols || col >= p.n) return;
      if (gated) col = col * f.gate_step + (t >> 3 & 1) * f.up_offset;
      col = vector_col<C>(at, col, gated ? 2 * p.n : p.n);
      if (f.col_scale != nullptr) scale_[i] = col_scale_at<C>(p, col);
      if (f.bias != nullptr && !f.bias_rows) bias_[i] = load_bits(f.bias, f.bias_type, col);
      if constexpr (weighs_columns) {
        if (p.group.weight != nullptr) weight_[i] = weight_of_token(p.group, col);
      }
    }
  }

  /// Result i is act(x), times what its gate multiplies.
  template <class Act>
  TW_DEVICE static void each(fragment& acc, int first, int to, Act act) {
    TW_UNROLL
    for (int i = 0; i < results; ++i) {
      int const from = register_of(first, i);
      float const y = act(acc[from]);
      acc[to + i] = C.gated() ? y * act.up(acc[from + to_up]) : y;
    }
  }
};

}  // namespace tw
