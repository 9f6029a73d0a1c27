// SPDX-License-Identifier: Apache-2.0
// plain_store.hpp  Writes a staged strip of D where TMA cannot: warps take its lines and store them
//                  in words of 4 bytes, at any address.
//
// A line is contiguous in global memory: a row of a row-major strip, a column of an M-major one. A
// 16-bit line may begin or end in the middle of a word; those two elements go alone.
#pragma once

#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/d_box.hpp"
#include "tilewright/kernel/epilogue_ops.hpp"

namespace tw {

template <gemm_config C>
class plain_store {
 public:
  static constexpr d_box box = d_box_of(C);
  using element = std::conditional_t<C.d == elem::f32, float, std::uint16_t>;

  /// Element (row, col) of a strip in shared memory: one or two boxes.
  TW_DEVICE static unsigned offset_in_strip(unsigned row, unsigned col) {
    constexpr unsigned rows = box.rows, cols = box.cols;
    unsigned const in_box = offset<d_box_layout(C)>(row % rows, col);
    return rows == 64 ? in_box : row / rows * (rows * cols) + in_box;
  }

  /// Stores what is inside of D of the strip at D(at); the whole warpgroup calls it, after a
  /// barrier. Result: d_result or aux_result of the epilogue. thread: in the warpgroup.
  template <class Result>
  TW_DEVICE static void store(int thread, Result const& result, element const* strip,
                              fragment_place at) {
    int const first = box.m_major ? at.col : at.row;
    int const end = least(box.m_major ? result.p.n : result.p.m, first + most_lines);
    int const length = least(box.m_major ? result.p.m - at.row : result.p.n - at.col, most_elems);
    if (length <= 0) return;
    element* const matrix = static_cast<element*>(result.matrix(at.batch)) + result.first(at.batch);
    unsigned const lane = static_cast<unsigned>(thread % 32);
    unsigned const warp = static_cast<unsigned>(thread / 32);
    for (unsigned pair = static_cast<unsigned>(first) + warp * at_once + lane / lanes;
         static_cast<int>(pair) < end; pair += 2 * 4 * at_once) {
      TW_UNROLL
      for (unsigned i = 0; i < 2; ++i) {
        unsigned const line = pair + i * 4 * at_once;
        if (static_cast<int>(line) >= end) continue;
        std::int64_t const to = box.m_major
                                    ? result.col(static_cast<int>(line)) * result.pitch() + at.row
                                    : line * result.pitch() + result.col(at.col);
        unsigned const in_strip = line % most_lines;
        if constexpr (words) {
          if (box.m_major || Result::contiguous || result.col_step() == 1) {
            store_words(matrix + to, strip, in_strip, lane % lanes, length);
            continue;
          }
        }
        int const step = box.m_major ? 1 : result.col_step();
        store_elems(matrix + to, step, strip, in_strip, lane % lanes, length);
      }
    }
  }

 private:
  static constexpr bool words = C.d != elem::f32;  // of two elements
  static constexpr int most_lines =  // a power of two, and strips begin at multiples of it
      box.m_major ? box.cols : 64;
  static constexpr int most_elems = box.m_major ? 64 : box.cols;
  /// Lanes that share a line, a power of two, and lines that a warp stores at once.
  static constexpr unsigned lanes = [] {
    unsigned n = 1;
    while (n < 32 && n * (words ? 2 : 1) < most_elems) n *= 2;
    return n;
  }();
  static constexpr unsigned at_once = 32 / lanes;

  TW_DEVICE static int least(int a, int b) { return a < b ? a : b; }

  TW_DEVICE static element load(element const* strip, unsigned line, unsigned i) {
    return strip[box.m_major ? offset_in_strip(i, line) : offset_in_strip(line, i)];
  }

  TW_DEVICE static void store_elems(element* to, int step, element const* strip, unsigned line,
                                    unsigned lane, int length) {
    TW_UNROLL
    for (unsigned i = 0; i < most_elems; i += lanes)
      if (static_cast<int>(i + lane) < length)
        to[(i + lane) * static_cast<unsigned>(step)] = load(strip, line, i + lane);
  }

  TW_DEVICE static void store_words(std::uint16_t* to, std::uint16_t const* strip, unsigned line,
                                    unsigned lane, int length) {
    unsigned const odd = reinterpret_cast<std::uintptr_t>(to) / 2 % 2;
    TW_UNROLL
    for (unsigned i = 0; i < most_elems; i += 2 * lanes) {
      unsigned const e = i + 2 * lane + odd;  // and e + 1 are a word
      if (static_cast<int>(e) + 1 < length)
        *reinterpret_cast<std::uint32_t*>(to + e) =
            load(strip, line, e) | static_cast<std::uint32_t>(load(strip, line, e + 1)) << 16;
    }
    bool const tail = ((static_cast<unsigned>(length) ^ odd) & 1) != 0;
    unsigned const e = lane == 0 ? 0 : static_cast<unsigned>(length) - 1;
    if (lane == 0 ? odd != 0 : lane == lanes - 1 && tail) to[e] = load(strip, line, e);
  }
};

}  // namespace tw
