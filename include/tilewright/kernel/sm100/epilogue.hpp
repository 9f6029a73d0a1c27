// SPDX-License-Identifier: Apache-2.0
// epilogue.hpp  The epilogue of the Blackwell GEMM: a warp takes 32 rows of an accumulator out of
//               tensor memory, a box of columns at a time. Thread t has row t of the box. The
//               formula is that of the other kernels (kernel/epilogue, problem/epilogue.hpp).
#pragma once

#include <math.h>

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/add_c.hpp"
#include "tilewright/kernel/epilogue/formula.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/epilogue/result_scale.hpp"
#include "tilewright/kernel/sm100/config.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/kernel/sm100/params.hpp"
#include "tilewright/problem/quantize.hpp"

namespace tw {

/// With a gate the first half of an accumulator's columns are gates and the second half what they
/// multiply, of the same columns of D. ByPointers: the matrices D and C of a batch may lie
/// anywhere, each at an address in an array. A box of D then has four coordinates: column, row, and
/// the two of tma_place, which are (batch, 0) where the matrices lie at equal distances. Without
/// ByPointers it has three: column, row, batch.
template <sm100_config C, bool ByPointers = C.by_pointers()>
struct sm100_epilogue {
  static constexpr bool gated = C.gated();
  static constexpr int rows = sm100_cta::warp_rows;
  static constexpr int cols = sm100_cta::box_row_bytes / size_bytes(C.d);  // of a box
  static constexpr int tile_cols = C.d_cols();                             // of D in a tile
  static constexpr int row_bytes = cols * size_bytes(C.d);
  static constexpr int box_bytes = rows * row_bytes;
  using element = typename word_of_bytes<size_bytes(C.d)>::type;

  static_assert(!C.operands().scales || cols == scale_block_cols,
                "[TW0270] with scales of D a box has the columns that share a scale");

  /// Where a box lies in D: its first row and column.
  using place = fragment_place;

  /// The two boxes of a warp in shared memory, by turns.
  struct boxes {
    std::byte (&box)[sm100_cta::boxes][box_bytes];
    int stored = 0;

    /// The next one, which the store before the last one has read.
    TW_DEVICE std::byte* next() {
      if (lane_id() == 0) tma_store_wait_read<sm100_cta::boxes - 1>();
      warp_sync();
      return box[stored++ % sm100_cta::boxes];
    }
  };

  /// A box of D at D(at), whose sums are in tensor memory from column `from` on: takes them out and
  /// stores what they become. Calls loaded() after the last load from the accumulator. Sums are
  /// multiplied by `scale` first. at.row < p.m.
  template <class Loaded>
  TW_DEVICE static void store_box(epilogue_params const& p, std::uint32_t from, place at,
                                  float scale, Loaded&& loaded, boxes& to) {
    float y[cols];
    results(p, from, at, scale, loaded, aux_writer{p, to, at}, y);
    if constexpr (C.operands().scales) divide_by_scales(p, at, y);
    std::byte* const box = to.next();
    stage(box, 0, y);
    send(box, at, d_at(p, at));
  }

  /// A thread's results of a box at D(at), in row at.row + lane_id(), not rounded yet. Elements
  /// outside D are undefined. Kernels with an auxiliary output pass x to aux: aux.add(i, x) for the
  /// columns from i on, then aux.finish(0) once the box is complete. With a gate these x are the
  /// gates; the same calls with aux.finish(1) follow for the columns that the gates multiply.
  template <class Loaded, class Aux>
  TW_DEVICE static void results(epilogue_params const& p, std::uint32_t from, place at, float scale,
                                Loaded&& loaded, Aux&& aux, float (&y)[cols]) {
    constexpr int pieces = cols / piece;
    bool const inside = at.row + lane_id() < p.m;
    auto const place_of = [&](int first) {
      return place{inside ? at.row + lane_id() : p.m - 1, at.col + first, at.batch};
    };
    unrolled<gated ? 2 : 1>([&](auto part) {
      std::uint32_t const sums = tmem_at(from, 0, part * C.tile_n / 2);
      unrolled<pieces>([&](auto i) {
        constexpr int first = i * piece;
        float x[piece];
        load_x(p, tmem_at(sums, 0, first), place_of(first), part, scale, inside, x);
        if constexpr (part == (gated ? 1 : 0) && i == pieces - 1) loaded();
        if constexpr (C.aux()) aux.add(first, x);
        if constexpr (C.fused())
          with_activation<C.gated()>(p.fused.act, [&](auto act) {
            each(x, [&](int, float v) { return part == 0 ? act(v) : act.up(v); });
          });
        TW_UNROLL
        for (int j = 0; j < piece; ++j) y[first + j] = part == 0 ? x[j] : y[first + j] * x[j];
      });
      if constexpr (C.aux()) aux.finish(part);
    });
    if constexpr (C.fused()) {
      if (p.c.data == nullptr || !p.fused.c_last || !inside) return;
      unrolled<pieces>([&](auto i) { add_c<i * piece>(p, place_of(i * piece), y); });
    }
  }

  /// Writes x of boxes to the auxiliary output.
  struct aux_writer {
    epilogue_params const& p;
    boxes& warp;
    place at;
    std::byte* box = nullptr;

    template <int Count>
    TW_DEVICE void add(int first, float const (&x)[Count]) {
      if (first == 0) box = warp.next();
      stage(box, first, x);
    }
    TW_DEVICE void finish(int part) { send(box, at, aux_at(p, at, part)); }
  };

 private:
  /// Columns that are loaded from tensor memory at a time: fewer in kernels that keep many results
  /// in registers meanwhile.
  static constexpr int piece = gated || size_bytes(C.d) == 1 ? 32 : cols;

  /// x of problem/epilogue.hpp, without C where that comes last: of part 0, or with a gate of what
  /// gates multiply (1). `at` is in D, its row too.
  TW_DEVICE static void load_x(epilogue_params const& p, std::uint32_t from, place at, int part,
                               float scale, bool inside, float (&x)[piece]) {
    auto sums = tmem_load<tmem_shape::l32x32b, piece>(from);
    tmem_wait_load(sums);
    bool const later = C.fused() && bias_takes_alpha(p);
    TW_UNROLL
    for (int i = 0; i < piece; ++i)
      x[i] = times_alpha(later ? 1.0F : p.alpha, scale * tmem_float(sums.r[i]));
    if constexpr (C.fused()) scale_and_bias(p, at, part, x);
    if constexpr (!gated)  // C of a gate comes last
      if (p.c.data != nullptr && !(C.fused() && p.fused.c_last) && inside) add_c<0>(p, at, x);
  }

  /// Where a box goes, in a row-major matrix.
  struct destination {
    tensor_map const& map;
    bool by_tma;
    int col;          // of the matrix, for TMA
    tma_place where;  // (batch, 0) but for batches by pointers
    element* first;
    std::int64_t pitch;
    int col_step;  // from a result of a row to the next
    int m, n;      // results of the box that are inside
  };
  TW_DEVICE static destination d_at(epilogue_params const& p, place at) {
    bool const pointers = ByPointers && p.matrices != nullptr;
    auto* const matrix = pointers ? static_cast<element*>(p.matrices[at.batch])
                                  : static_cast<element*>(p.data) + at.batch * p.batch_stride;
    tma_place const where = pointers ? tma_place_of(matrix) : tma_place{at.batch, 0};
    return {p.d,
            at.col + cols <= p.tma_end,
            at.col,
            where,
            matrix + at.row * p.pitch + at.col,
            p.pitch,
            1,
            p.m - at.row,
            p.n - at.col};
  }
  /// In the auxiliary output: of x, or with a gate of gates (part 0) or what they multiply (1). A
  /// box must not reach from the gates' columns into the others.
  TW_DEVICE static destination aux_at(epilogue_params const& p, place at, int part) {
    fused_params const& f = p.fused;
    int const step = gated ? f.gate_step : 1;
    int const col = at.col * step + (gated ? part * f.up_offset : 0);
    bool const by_tma = at.col + cols <= f.aux_tma_end && (!gated || at.col + cols <= p.n);
    return {
        f.aux_map,
        by_tma,
        col,
        {at.batch, 0},
        static_cast<element*>(f.aux) + at.batch * f.aux_batch_stride + at.row * f.aux_pitch + col,
        f.aux_pitch,
        step,
        p.m - at.row,
        p.n - at.col};
  }

  /// Stores a box at D(at) from shared memory, once all threads have staged their rows.
  TW_DEVICE static void send(std::byte const* box, place at, destination const& to) {
    fence_proxy_async();
    warp_sync();
    if (to.by_tma) {
      if (lane_id() == 0) {
        if constexpr (ByPointers)
          tma_store(to.map, box, tma_coord{to.col, at.row, to.where.units, to.where.spans});
        else
          tma_store(to.map, box, tma_coord{to.col, at.row, to.where.units});
      }
    } else {
      store_plain(box, to);
    }
    if (lane_id() == 0) tma_store_commit();  // an empty group after plain stores keeps the count
  }

  /// Writes a part of a thread's row to a box in shared memory, from column `first` on, rounded.
  template <int Count>
  TW_DEVICE static void stage(std::byte* box, int first, float const (&x)[Count]) {
    struct alignas(16) chunk {
      word w[4];
    };
    constexpr int in_chunk = 16 / size_bytes(C.d);
    TW_UNROLL
    for (int i = 0; i < Count; i += in_chunk) {
      chunk v;
      TW_UNROLL
      for (int j = 0; j < 4; ++j) v.w[j] = word_of(x + i + j * in_chunk / 4);
      *reinterpret_cast<chunk*>(box + offset_of(lane_id(), first + i)) = v;
    }
  }

  /// Where an element of a box lies in shared memory, in bytes.
  TW_DEVICE static std::uint32_t offset_of(int row, int col) {
    return swizzled(static_cast<std::uint32_t>(row * row_bytes + col * size_bytes(C.d)),
                    swizzle_mode::b128);
  }
  /// 32 bits of a row from x on.
  static constexpr bool single = holds_float_sums(C.d);  // a result is a word
  using word = std::conditional_t<single, float, std::uint32_t>;
  TW_DEVICE static word word_of(float const* x) {
    if constexpr (single) {
      return x[0];
    } else if constexpr (size_bytes(C.d) == 1) {
      std::uint32_t const low = pack2<C.d>(x[0], x[1]);
      return low | std::uint32_t{pack2<C.d>(x[2], x[3])} << 16;
    } else {
      return pack2<C.d>(x[0], x[1]);
    }
  }

  /// x but for C. The scales of the requested GEMM's rows come first.
  TW_DEVICE static void scale_and_bias(epilogue_params const& p, place at, int part,
                                       float (&x)[piece]) {
    fused_params const& f = p.fused;
    TW_NO_UNROLL
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn == 0) == f.col_scale_first) {
        if (f.col_scale == nullptr) continue;
        each_in_groups(x, [&](int i, float y) {
          return y * f.col_scale[col_of(p, at, part, i) * f.col_scale_step];
        });
      } else if (f.row_scale != nullptr) {
        float const scale = f.row_scale[at.row * f.row_scale_step];
        each(x, [&](int, float y) { return y * scale; });
      }
    }
    if (f.bias == nullptr) return;
    float const with_bias = bias_takes_alpha(p) ? p.alpha : 1.0F;
    if (f.bias_rows) {
      float const bias = load_as_float(f.bias, f.bias_type, at.row);
      each(x, [&](int, float y) { return fmaf(with_bias, y, bias); });
    } else {
      each_in_groups(x, [&](int i, float y) {
        return fmaf(with_bias, y, load_as_float(f.bias, f.bias_type, col_of(p, at, part, i)));
      });
    }
  }
  template <class F>
  TW_DEVICE static void each(float (&x)[piece], F f) {
    TW_UNROLL
    for (int i = 0; i < piece; ++i) x[i] = f(i, x[i]);
  }
  /// each() for an f that loads: a few columns at a time, so that few addresses are in registers.
  template <class F>
  TW_DEVICE static void each_in_groups(float (&x)[piece], F f) {
    TW_UNROLL
    for (int i = 0; i < piece; ++i) {
      if (i % 4 == 0) compiler_fence();
      x[i] = f(i, x[i]);
    }
  }
  /// The column of D that result i is of, or the last one; the column of A B.
  TW_DEVICE static int d_col_of(epilogue_params const& p, place at, int i) {
    return at.col + i < p.n ? at.col + i : p.n - 1;
  }
  TW_DEVICE static int col_of(epilogue_params const& p, place at, int part, int i) {
    int const col = d_col_of(p, at, i);
    return gated ? col * p.fused.gate_step + part * p.fused.up_offset : col;
  }

  /// Adds beta C to x from column First of it on; that is D(at).
  template <int First, int Count>
  TW_DEVICE static void add_c(epilogue_params const& p, place at, float (&x)[Count]) {
    bool const pointers = ByPointers && p.c.matrices != nullptr;
    void const* const matrix = pointers ? p.c.matrices[at.batch] : p.c.data;
    std::int64_t const first =
        (pointers ? 0 : at.batch * p.c.batch_stride) + at.row * p.c.row_stride;
    TW_UNROLL
    for (int i = 0; i < piece; ++i) {
      if (i % 4 == 0) compiler_fence();
      std::int64_t const of_col = d_col_of(p, at, i) * p.c.col_stride;
      x[First + i] = fmaf(p.beta, load_as_float(matrix, p.c.type, first + of_col), x[First + i]);
    }
  }

  /// Divides a thread's row of a box by its scale, and stores that.
  TW_DEVICE static void divide_by_scales(epilogue_params const& p, place at, float (&y)[cols]) {
    result_scales const& s = p.scales;
    float scale;
    if (s.given != 0) {
      scale = *static_cast<words::f32 const*>(s.data);
    } else {
      int const inside = p.n - at.col;
      float amax = largest(y, inside, [](float x) { return fabsf(x); });
      if (!(amax < INFINITY))  // infinities are rare: a second look leaves them out
        amax = largest(y, inside, [](float x) { return float_of_bits(finite_magnitude_bits(x)); });
      scale = quantize_scale(amax, quantize_limit(C.d), s.power_of_two != 0);
      int const row = at.row + lane_id();
      if (row < p.m) store_result_scale(s, row, at, scale);
    }
    scale_divisor const by(scale);
    TW_UNROLL
    for (int i = 0; i < cols; ++i) y[i] = by.divide(y[i]);
  }
  /// Of the columns inside of D; the other one where one is NaN.
  template <class Magnitude>
  TW_DEVICE static float largest(float const (&y)[cols], int inside, Magnitude magnitude) {
    float most = 0;
    TW_UNROLL
    for (int i = 0; i < cols; ++i)
      if (i < inside) most = fmaxf(most, magnitude(y[i]));
    return most;
  }

  /// Element by element, what is inside: where TMA cannot address the matrix, or a row ends inside
  /// of 16 bytes.
  TW_DEVICE static void store_plain(std::byte const* box, destination const& to) {
    TW_NO_UNROLL
    for (int row = 0; row < rows && row < to.m; ++row) {
      TW_UNROLL
      for (int col = lane_id(); col < cols; col += warp_threads)
        if (col < to.n)
          to.first[row * to.pitch + col * to.col_step] =
              *reinterpret_cast<element const*>(box + offset_of(row, col));
    }
  }
};

}  // namespace tw
