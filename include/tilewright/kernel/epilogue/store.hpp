// SPDX-License-Identifier: Apache-2.0
// store.hpp  From accumulators to D: alpha * acc + beta * C, rounded once, through shared memory
//               and TMA; or plain stores where TMA cannot address D or would write beyond it.
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/epilogue/d_box.hpp"
#include "tilewright/kernel/epilogue/ops.hpp"
#include "tilewright/kernel/epilogue/plain_store.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

/// Staging strips of each warpgroup: 64 rows of one box's columns.
template <gemm_config C>
struct epilogue_smem {
  static constexpr int strip_bytes = 64 * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte strip[C.math_warpgroups()][staging_of(C).strips()][strip_bytes];
};
/// And the vectors of a fused epilogue.
template <gemm_config C>
requires(C.fused != fusion::none) struct epilogue_smem<C> {
  static constexpr int strip_bytes = 64 * d_box_of(C).cols * size_bytes(C.d);
  alignas(1024) std::byte strip[C.math_warpgroups()][staging_of(C).strips()][strip_bytes];
  strip_vectors<C> vectors[C.math_warpgroups()];
};

template <gemm_config C>
struct epilogue {
  static constexpr elem type = C.d;
  static constexpr d_box box = d_box_of(C);
  static constexpr layout box_layout = d_box_layout(C);  // (rows, cols) of a box
  static constexpr int strips = C.d_cols() / box.cols;   // of a fragment
  static constexpr int strip_regs = box.cols / 2;        // results of a thread in a strip
  static constexpr staging staged = staging_of(C);
  using fragment = accumulator<C.part_n()>;
  using element = typename plain_store<C>::element;

  /// Stores a warpgroup's fragments, (64, d_cols) each, one below the other; the first at D(at).
  /// `turn` is 0 at first; its lowest bit is the half of the staging strips that comes first, the
  /// one above tells that strips have been used. Between two calls TMA may still read the strips
  /// that were filled last, of two halves not those that come first.
  template <int Fragments>
  TW_DEVICE static void store(epilogue_params const& p, epilogue_smem<C>& s, int warpgroup,
                              fragment_place at, fragment (&acc)[Fragments], int& turn) {
    writer const w{s, warpgroup, thread_id_anew() % 128};
    if constexpr (C.fused != fusion::none) {
      using ops = epilogue_ops<C>;
      auto const place = [&](int f) { return fragment_place{at.row + 64 * f, at.col, at.batch}; };
      if constexpr (!C.aux()) {
        if (ops::is_simple(p) && all_by_tma(p, place(Fragments - 1)))
          return with_activation(p.fused.act, [&](auto act) {
            unrolled<Fragments>([&](auto f) { store_simple(p, w, place(f), acc[f], turn, act); });
          });
      }
      unrolled<Fragments>([&](auto f) { store_fused(p, w, place(f), acc[f], turn); });
    } else {
      constexpr int groups = Fragments * strips / staged.group;
      d_result const d = d_of(p, at);  // once, for it may read memory
      bool const sums = are_sums(p, {at.row + 64 * (Fragments - 1), at.col, at.batch});
      if (sums)
        unrolled<groups>([&](auto g) { store_sums<g * staged.group>(d, w, at, acc, turn); });
      else
        store_any(d, w, at, acc, turn);
      if (staged.halves == 2 && groups % 2 != 0) turn ^= 1;
      turn |= 2;
    }
  }

  /// After the last tile: the staging strips have been read, the CTA may exit.
  TW_DEVICE static void finish() {
    if (thread_id() % 128 == 0) tma_store_wait_read<0>();
  }

 private:
  /// A thread of a warpgroup that stores.
  struct writer {
    epilogue_smem<C>& smem;
    int warpgroup;
    int thread;  // in the warpgroup

    /// For one more strip. Where each result has an address of its own, the compiler must not keep
    /// those for all strips.
    TW_DEVICE writer next() const { return type == elem::f32 ? anew() : *this; }
    /// The same thread, of whose number nothing is kept: for code without registers to spare.
    TW_DEVICE writer anew() const { return {smem, warpgroup, thread_id_anew() % 128}; }
    TW_DEVICE int barrier() const { return 1 + warpgroup; }
    TW_DEVICE bool leads() const { return thread == 0; }
    TW_DEVICE int warp() const { return thread / 32; }
    TW_DEVICE int lane() const { return thread % 32; }
    /// Row and column, in the fragment, of its first element; accumulator_map has the others.
    TW_DEVICE int first_row() const { return accumulator_map::row_of(warp(), lane()); }
    TW_DEVICE int first_col() const { return accumulator_map::col_of(lane()); }
  };

  /// What a strip is stored to: D.
  struct d_result {
    epilogue_params const& p;
    tma_place place;  // of the product's D, or (batch, 0)
    int tile_end;     // where a kernel narrows: the first column behind the tile
    /// Columns before this one are the tile's.
    TW_DEVICE int end() const { return C.narrows() && tile_end < p.n ? tile_end : p.n; }
    TW_DEVICE tensor_map const& map(int col) const {
      return C.narrows() && col + box.cols > tile_end ? p.d_part : p.d;
    }
    TW_DEVICE auto box_at(int inner, int outer, int batch) const {
      if constexpr (C.by_pointers()) {
        return tma_coord<4>{{inner, outer, place.units, place.spans}};
      } else {
        return tma_coord<3>{{inner, outer, batch}};
      }
    }
    /// Product `batch` begins `first` elements behind `matrix`.
    TW_DEVICE void* matrix(int batch) const {
      return !C.by_pointers() ? p.data
             : p.matrices != nullptr
                 ? p.matrices[batch]
                 : static_cast<std::byte*>(p.data) + batch * p.batch_stride * size_bytes(type);
    }
    TW_DEVICE std::int64_t first(int batch) const {
      return C.by_pointers() ? 0 : batch * p.batch_stride;
    }
    TW_DEVICE std::int64_t pitch() const { return p.pitch; }
    TW_DEVICE int col(int d_col) const { return d_col; }
    static constexpr bool contiguous = true;  // columns, in a row-major matrix
    TW_DEVICE int col_step() const { return 1; }
  };
  /// For a tile whose first column is at.col.
  TW_DEVICE static d_result d_of(epilogue_params const& p, fragment_place at) {
    int const tile_end = C.narrows() ? at.col + p.tile_cols : 0;
    if constexpr (C.by_pointers())
      return {p, matrix_place(p.matrices, at.batch, at.batch), tile_end};
    return {p, {at.batch, 0}, tile_end};
  }
  /// Or the auxiliary output, of which a gate (part 0) and what it multiplies (1) are columns
  /// apart.
  struct aux_result {
    epilogue_params const& p;
    int part;
    TW_DEVICE int end() const { return p.n; }
    TW_DEVICE tensor_map const& map(int) const { return p.fused.aux_map; }
    TW_DEVICE auto box_at(int inner, int outer, int batch) const {
      return tma_coord<3>{{inner, outer, batch}};
    }
    TW_DEVICE void* matrix(int) const { return p.fused.aux; }
    TW_DEVICE std::int64_t first(int batch) const { return batch * p.fused.aux_batch_stride; }
    TW_DEVICE std::int64_t pitch() const { return p.fused.aux_pitch; }
    TW_DEVICE int col(int d_col) const {
      return C.gated() ? d_col * p.fused.gate_step + part * p.fused.up_offset : d_col;
    }
    static constexpr bool contiguous = !C.gated();
    TW_DEVICE int col_step() const { return C.gated() ? p.fused.gate_step : 1; }
  };

  /// Can TMA store fragments of which the last is at D(at)?
  TW_DEVICE static bool all_by_tma(epilogue_params const& p, fragment_place at) {
    return end_of({at.row, at.col + (strips - 1) * box.cols, at.batch}) <= p.tma_end;
  }
  /// And is the sum D?
  TW_DEVICE static bool are_sums(epilogue_params const& p, fragment_place at) {
    return all_by_tma(p, at) && p.alpha == 1.0F && p.c.data == nullptr;
  }

  /// Where strip i of a warpgroup's fragments goes; the first fragment is at D(at).
  TW_DEVICE static fragment_place place_of(fragment_place at, int i) {
    return {at.row + 64 * (i / strips), at.col + i % strips * box.cols, at.batch};
  }
  /// The staging strip for it.
  TW_DEVICE static std::byte* staging_for(writer const& w, int i, int turn) {
    int const half = staged.halves == 1 ? 0 : (i / staged.group + turn) % 2;
    return w.smem.strip[w.warpgroup][half * staged.group + i % staged.group];
  }

  /// Strips First and following, a group, for which are_sums() holds, as for nearly all. Code for
  /// other cases must not lie between: it costs even where it is jumped over (docs/decisions/0019).
  template <int First, int Fragments>
  TW_DEVICE static void store_sums(d_result const& d, writer const& w, fragment_place at,
                                   fragment (&acc)[Fragments], int turn) {
    if (staged.halves == 1 && (First > 0 || turn >= 2)) meet<0>(w);
    unrolled<staged.group>([&](auto k) {
      constexpr int i = First + k, j = i % strips;
      fill(w.next(), staging_for(w, i, turn),
           [&](int e) { return acc[i / strips][j * strip_regs + e]; });
    });
    fence_proxy_async();  // the writes above are for the async proxy
    if (staged.halves == 2 && w.leads()) tma_store_wait_read<0>();  // the other half is free
    named_barrier_sync(w.barrier(), 128);
    unrolled<staged.group>([&](auto k) {
      store_boxes(w, d, staging_for(w, First + k, turn), place_of(at, First + k));
    });
    if (w.leads()) tma_store_commit();
  }

  /// All strips, whatever they need: a loop whose code is there once, for it is half of a kernel's.
  /// Each turn takes the first strip's results and moves those of the others down.
  template <int Fragments>
  TW_DEVICE static void store_any(d_result const& d, writer const& w, fragment_place at,
                                  fragment (&acc)[Fragments], int turn) {
    TW_NO_UNROLL
    for (int i = 0; i < Fragments * strips; ++i) {
      fragment_place const to = place_of(at, i);
      if (i % staged.group == 0 && (i > 0 || turn >= 2)) meet<0>(w);
      scale(d, w.anew(), to, acc[0]);
      store_strip(w.anew(), d, end_of(to) <= d.p.tma_end, staging_for(w, i, turn), to,
                  [&](int e) { return acc[0][e]; });
      move_down<strip_regs>(acc);
    }
  }

  /// Drops the first `By` of a thread's results: the next ones take their place.
  template <int By, int Fragments>
  TW_DEVICE static void move_down(fragment (&acc)[Fragments]) {
    constexpr int size = fragment::size;
    TW_UNROLL
    for (int i = By; i < Fragments * size; ++i)
      acc[(i - By) / size][(i - By) % size] = acc[i / size][i % size];
  }

  /// A fragment with the simple kind of fused epilogue, without code for others in between.
  template <class Act>
  TW_DEVICE static void store_simple(epilogue_params const& p, writer const& w, fragment_place at,
                                     fragment& acc, int& turn, Act act) {
    using ops = epilogue_ops<C>;
    ops vectors(p, at);
    unrolled<strips>([&](auto strip) {
      constexpr int j = strip;
      fragment_place const to{at.row, at.col + j * box.cols, at.batch};
      vectors.share(p, w.smem.vectors[w.warpgroup], {at.row, to.col + box.cols, at.batch});
      meet<1>(w);
      ops::make_simple(p, w.smem.vectors[w.warpgroup], to, acc, j, act);
      std::byte* const staged_strip = w.smem.strip[w.warpgroup][turn];
      fill(w, staged_strip, [&](int i) { return acc[j * strip_regs + i]; });
      fence_proxy_async();  // the writes above are for the async proxy
      named_barrier_sync(w.barrier(), 128);
      store_boxes(w, d_of(p, at), staged_strip, to);
      if (w.leads()) tma_store_commit();
      turn ^= 1;
    });
  }

  /// The same with a fused epilogue; the staging strips take turns from one store to the next.
  TW_DEVICE static void store_fused(epilogue_params const& p, writer const& w, fragment_place at,
                                    fragment& acc, int& turn) {
    using ops = epilogue_ops<C>;
    constexpr bool gated = C.gated();
    ops vectors(p, at);
    unrolled<strips>([&](auto strip) {
      constexpr int j = strip;
      fragment_place const to{at.row, at.col + j * box.cols, at.batch};
      auto const put = [&](auto const& result, bool by_tma, auto value) {
        store_strip(w, result, by_tma, w.smem.strip[w.warpgroup][turn], to, value);
        turn ^= 1;
      };
      vectors.share(p, w.smem.vectors[w.warpgroup], {at.row, to.col + box.cols, at.batch});
      meet<1>(w);
      ops::make_x(p, w.smem.vectors[w.warpgroup], to, acc, j);
      if constexpr (C.aux()) {
        // A box must not reach from the gates' columns into the others.
        bool const by_tma =
            end_of(to) <= p.fused.aux_tma_end && (!gated || to.col + box.cols <= p.n);
        unrolled<gated ? 2 : 1>([&](auto part) {
          put(aux_result{p, part}, by_tma,
              [&](int i) { return acc[ops::register_of(j * ops::regs, i) + 4 * part]; });
          meet<1>(w);
        });
      }
      ops::make_y(p, to, acc, j);
      put(d_of(p, at), end_of(to) <= p.tma_end, [&](int i) { return acc[j * strip_regs + i]; });
    });
  }

  /// Where a strip ends along the contiguous side of D; uniform in the warpgroup.
  TW_DEVICE static int end_of(fragment_place at) {
    return box.m_major ? at.row + 64 : at.col + box.cols;
  }

  /// A fragment's first strip, at D(at): alpha * acc + beta * C.
  TW_DEVICE static void scale(d_result const& d, writer const& w, fragment_place at,
                              fragment& acc) {
    epilogue_params const& p = d.p;
    TW_UNROLL
    for (int i = 0; i < strip_regs; ++i) acc[i] = times_alpha(p.alpha, acc[i]);
    if (p.c.data != nullptr)
      add_c<strip_regs>(p, {at.row + w.first_row(), at.col + w.first_col(), at.batch}, d.end(), acc,
                        0);
  }

  /// The warpgroup goes on when all TMA stores but the last `Pending` have read their strips; plain
  /// stores have then.
  template <int Pending>
  TW_DEVICE static void meet(writer const& w) {
    if (w.leads()) tma_store_wait_read<Pending>();
    named_barrier_sync(w.barrier(), 128);
  }

  /// A strip at D(at), through shared memory. value(i): the thread's result i.
  template <class Result, class Value>
  TW_DEVICE static void store_strip(writer const& w, Result const& result, bool by_tma,
                                    std::byte* strip, fragment_place at, Value value) {
    fill(w, strip, value);
    fence_proxy_async();  // the writes above are for the async proxy
    named_barrier_sync(w.barrier(), 128);
    store_filled(w, result, by_tma, strip, at);
    if (w.leads()) tma_store_commit();  // an empty group after plain stores keeps the count
  }

  template <class Result>
  TW_DEVICE static void store_filled(writer const& w, Result const& result, bool by_tma,
                                     std::byte* strip, fragment_place at) {
    if (by_tma)
      store_boxes(w, result, strip, at);
    else
      plain_store<C>::store(w.thread, result, reinterpret_cast<element const*>(strip), at);
  }

  /// Writes the thread's results to a staging strip.
  template <class Value>
  TW_DEVICE static void fill(writer const& w, std::byte* strip, Value value) {
    if constexpr (type == elem::f32)
      fill_32(w, reinterpret_cast<float*>(strip), value);
    else if constexpr (box.m_major)
      fill_16_transposed(w, reinterpret_cast<std::uint16_t*>(strip), value);
    else
      fill_16(w, reinterpret_cast<std::uint16_t*>(strip), value);
  }

  /// The boxes of a staged strip, by TMA.
  template <class Result>
  TW_DEVICE static void store_boxes(writer const& w, Result const& result, std::byte* strip,
                                    fragment_place at) {
    if (!w.leads()) return;
    tensor_map const& map = result.map(at.col);
    TW_UNROLL
    for (int b = 0; b < box.boxes(); ++b) {
      int const row = at.row + b * box.rows, col = result.col(at.col);
      if (row >= result.p.m || at.col >= result.end()) continue;
      auto const to =
          box.m_major ? result.box_at(row, col, at.batch) : result.box_at(col, row, at.batch);
      if (result.p.d_evict_first != 0)
        tma_store_hinted(map, strip + b * box.bytes(type), to, evict_first_policy());
      else
        tma_store(map, strip + b * box.bytes(type), to);
    }
  }

  /// Results i, i+1 as two 16-bit values.
  template <class Value>
  TW_DEVICE static std::uint32_t packed(Value value, int i) {
    return pack2<type>(value(i), value(i + 1));
  }

  /// 16-bit row-major D: 16 columns with each stmatrix, 8 where the box has no more of them.
  template <class Value>
  TW_DEVICE static void fill_16(writer const& w, std::uint16_t* s, Value value) {  // (64, cols)
    int const row = 16 * w.warp() + w.lane() % 16;
    unrolled<(box.cols + 15) / 16>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - 16 * q == 8;
      int const i = 8 * q, col = 16 * q + (half ? 0 : 8 * (w.lane() / 16));
      std::uint16_t* const at = s + offset<box_layout>(row, col);
      if constexpr (half)
        stmatrix<2>(at, b32<2>{{packed(value, i), packed(value, i + 2)}});
      else
        stmatrix<4>(at, b32<4>{{packed(value, i), packed(value, i + 2), packed(value, i + 4),
                                packed(value, i + 6)}});
    });
  }

  /// 16-bit M-major D: the same with transposed matrices, whose stored rows are columns of D.
  template <class Value>
  TW_DEVICE static void fill_16_transposed(writer const& w, std::uint16_t* s,
                                           Value value) {  // (64, cols)
    int const row = 16 * w.warp() + 8 * (w.lane() / 8 % 2);
    unrolled<(box.cols + 15) / 16>([&](auto step) {
      constexpr int q = step;
      constexpr bool half = box.cols - 16 * q == 8;
      int const i = 8 * q, col = 16 * q + w.lane() % 8 + (half ? 0 : 8 * (w.lane() / 16));
      std::uint16_t* const at = s + offset<box_layout>(row, col);
      if constexpr (half)
        stmatrix<2, true>(at, b32<2>{{packed(value, i), packed(value, i + 2)}});
      else
        stmatrix<4, true>(at, b32<4>{{packed(value, i), packed(value, i + 2), packed(value, i + 4),
                                      packed(value, i + 6)}});
    });
  }

  /// 32-bit D, an element at a time; a row-major box takes neighbours together.
  template <class Value>
  TW_DEVICE static void fill_32(writer const& w, float* s, Value value) {  // (64, cols)
    TW_UNROLL
    for (int i = 0; i < strip_regs; ++i) {
      int const row = w.first_row() + accumulator_map::row_of_register(i);
      int const col = w.first_col() + accumulator_map::col_of_register(i);
      s[plain_store<C>::offset_in_strip(row, col)] = value(i);
    }
  }
};

}  // namespace tw
