// SPDX-License-Identifier: Apache-2.0
// plain_store.hpp  Stores a staged epilogue tile where TMA cannot: warps take its lines and store
//                  them in words of 4 bytes, at any address.
//
// A line is contiguous in global memory: a row of a row-major tile, a column of an M-major one. A
// 16-bit line may begin or end in the middle of a word; those two elements go alone.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"
#include "tilewright/kernel/sm90/epilogue/ops.hpp"

namespace tw {

template <gemm_config C>
class plain_store {
 public:
  static constexpr d_box box = d_box_of(C);
  using element = typename word_of_bytes<size_bytes(C.d)>::type;

  /// Element (row, col) of an epilogue tile in shared memory: one or two boxes.
  TW_DEVICE static unsigned offset_in_tile(unsigned row, unsigned col) {
    constexpr unsigned rows = box.rows, cols = box.cols;
    unsigned const in_box = offset<d_box_layout(C)>(row % rows, col);
    return box.boxes() == 1 ? in_box : row / rows * (rows * cols) + in_box;
  }

  /// Stores the in-bounds part of the epilogue tile at D(at); the whole warpgroup calls it, after a
  /// barrier. Result: d_result or aux_result of the epilogue. thread: in the warpgroup.
  template <class Result>
  TW_DEVICE static void store(int thread, Result const& result, element const* tile,
                              fragment_place at) {
    int const m = result.p.m - at.row, n = result.end() - at.col;  // left of D
    lines const l = lines_of(result, at, least(box.m_major ? n : m, max_lines),
                             least(box.m_major ? m : n, max_elems));
    if (l.count <= 0 || l.length <= 0) return;
    auto const t = static_cast<unsigned>(thread);
    if constexpr (C.divides_d_lines()) {
      if (result.p.group.scatter != nullptr) {
        store_scattered(t, result.p, l, tile, at);
        return;
      }
    }
    if constexpr (elems_of_word == 2) {
      if (l.step == 1) {
        store_lines<4>(t, l, tile);
        store_ends(t, l, tile);
        return;
      }
    }
    store_lines<size_bytes(C.d)>(t, l, tile);
  }

 private:
  static constexpr unsigned elems_of_word = 4 / size_bytes(C.d);
  static constexpr int max_lines = box.m_major ? box.cols : wgmma_m;
  static constexpr int max_elems = box.m_major ? box.fragment_rows : box.cols;
  /// Lanes that share a line, a power of two.
  static constexpr unsigned lanes = [] {
    unsigned n = 1;
    while (n < warp_threads && n * elems_of_word < max_elems) n *= 2;
    return n;
  }();
  static constexpr unsigned at_once = warpgroup_threads / lanes;  // lines that the warpgroup stores

  /// `count` lines of `length` elements; lines are `pitch` and elements `step` elements apart.
  struct lines {
    element* to;
    std::int64_t pitch;
    int step, count, length;
  };
  template <class Result>
  TW_DEVICE static lines lines_of(Result const& result, fragment_place at, int count, int length) {
    auto* const matrix = static_cast<element*>(result.matrix(at.batch)) + result.first(at.batch);
    std::int64_t const pitch = result.pitch(), col = result.col(at.col);
    int const step = Result::contiguous ? 1 : result.col_step();
    if (box.m_major) return {matrix + col * pitch + at.row, step * pitch, 1, count, length};
    return {matrix + at.row * pitch + col, pitch, step, count, length};
  }

  TW_DEVICE static int least(int a, int b) { return a < b ? a : b; }

  TW_DEVICE static element const* in_tile(element const* tile, unsigned line, unsigned i) {
    return tile + (box.m_major ? offset_in_tile(i, line) : offset_in_tile(line, i));
  }

  /// The whole words of all lines: elements, or two of them at a multiple of 4 bytes. A thread
  /// reads a few before it stores them.
  template <int Bytes>
  TW_DEVICE static void store_lines(unsigned thread, lines const& l, element const* tile) {
    using word_type = typename word_of_bytes<Bytes>::type;
    constexpr unsigned per = Bytes / sizeof(element), span = per * lanes;
    constexpr unsigned spans = (max_elems + span - 1) / span;  // of a line
    constexpr unsigned turns = max_lines / at_once;
    constexpr unsigned batch = spans == 1 && turns % 4 == 0 ? 4 : 2;
    static_assert(turns % batch == 0);
    unsigned const first = thread / lanes, lane = thread % lanes;
    element* to = l.to + first * l.pitch;
    std::int64_t const stride = at_once * l.pitch;  // at_once is even: it keeps `odd`
    unsigned const odd = per == 2 ? reinterpret_cast<std::uintptr_t>(to) / 2 % 2 : 0;
    TW_NO_UNROLL
    for (unsigned turn = 0; turn < turns; turn += batch) {
      word_type word[batch][spans];
      TW_UNROLL
      for (unsigned i = 0; i < batch; ++i) {
        TW_UNROLL
        for (unsigned j = 0; j < spans; ++j)
          word[i][j] = load<Bytes>(tile, first + (turn + i) * at_once, j * span + lane * per, odd);
      }
      TW_UNROLL
      for (unsigned i = 0; i < batch; ++i, to += stride) {
        if (first + (turn + i) * at_once >= static_cast<unsigned>(l.count)) continue;
        TW_UNROLL
        for (unsigned j = 0; j < spans; ++j) {
          unsigned const e = j * span + lane * per + odd;
          if (e + per <= static_cast<unsigned>(l.length))
            *reinterpret_cast<word_type*>(to + (per == 2 ? e : e * static_cast<unsigned>(l.step))) =
                word[i][j];
        }
      }
    }
  }

  /// Each line to its row of D, or nowhere.
  TW_DEVICE static void store_scattered(unsigned thread, epilogue_params const& p, lines const& l,
                                        element const* tile, fragment_place at) {
    using word_type = typename word_of_bytes<4>::type;
    unsigned const lane = thread % lanes, length = static_cast<unsigned>(l.length);
    int const first = (box.m_major ? at.col : at.row) + at.shift;
    int const inner = box.m_major ? at.row : at.col;  // in a line
    for (unsigned line = thread / lanes; line < static_cast<unsigned>(l.count); line += at_once) {
      int const index = first + static_cast<int>(line);
      int const row = scattered_row(p.group, index);
      if (row < 0) {
        if (inner == 0 && lane == 0) report_index(p.group, index);
        continue;
      }
      element* const to = static_cast<element*>(p.data) + row * p.pitch + inner;
      unsigned const per = reinterpret_cast<std::uintptr_t>(to) % 4 == 0 ? elems_of_word : 1;
      for (unsigned e = lane * per; e < length; e += lanes * per) {
        element const* const from = in_tile(tile, line, e);
        if (sizeof(word_type) > sizeof(element) && per > 1 && e + per <= length)
          *reinterpret_cast<word_type*>(to + e) = *reinterpret_cast<word_type const*>(from);
        else
          to[e] = *from;
      }
    }
  }

  /// A word of a line from element e + odd on; e is even where a word has two. Anything beyond the
  /// end of the epilogue tile.
  template <int Bytes>
  TW_DEVICE static typename word_of_bytes<Bytes>::type load(element const* tile, unsigned line,
                                                            unsigned e, unsigned odd) {
    using word_type = typename word_of_bytes<Bytes>::type;
    if (e >= max_elems) return {};
    word_type const word = *reinterpret_cast<word_type const*>(in_tile(tile, line, e));
    if constexpr (Bytes > sizeof(element)) {
      if (odd != 0 && e + 2 < max_elems)
        return word >> 16 | *reinterpret_cast<word_type const*>(in_tile(tile, line, e + 2)) << 16;
    }
    return word;
  }

  /// The elements at the head and the tail of lines that belong to no whole word.
  TW_DEVICE static void store_ends(unsigned thread, lines const& l, element const* tile) {
    bool const head = thread < warpgroup_threads / 2;
    int const e = head ? 0 : l.length - 1;
    for (unsigned line = thread % (warpgroup_threads / 2); line < static_cast<unsigned>(l.count);
         line += warpgroup_threads / 2) {
      element* const to = l.to + line * l.pitch;
      bool const odd = reinterpret_cast<std::uintptr_t>(to) / 2 % 2 != 0;
      bool const tail = (l.length % 2 != 0) != odd;
      if (head ? odd : tail) to[e] = *in_tile(tile, line, static_cast<unsigned>(e));
    }
  }
};

}  // namespace tw
