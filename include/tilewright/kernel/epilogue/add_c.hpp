// SPDX-License-Identifier: Apache-2.0
// add_c.hpp  beta * C, for a thread's results of an epilogue tile. C has any strides.
#pragma once

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/epilogue/load_as_float.hpp"
#include "tilewright/kernel/epilogue/params.hpp"

namespace tw {

/// The place of the first element of a fragment, or of a thread's results: D(row, col) of matrix
/// `batch`. Groups of rows or columns: in a map that ends with group `group` (sm90/scheduler.hpp).
struct fragment_place {
  int row, col, batch;
  int group = 0;
  int shift = 0;  // of groups: from the ragged index in the map to that in vectors

  TW_HD fragment_place below(int rows) const { return {row + rows, col, batch, group, shift}; }
  TW_HD fragment_place right(int cols) const { return {row, col + cols, batch, group, shift}; }
};

/// Which lines of C an index array may name (group_operands::scatter): the lines of D.
enum class named_lines : std::uint8_t { none, rows, cols };

namespace detail {

/// The line of C for line `i` of D's map; of a number that names none, line 0.
template <named_lines Named, named_lines Which>
TW_DEVICE int line_of_c(epilogue_params const& p, fragment_place at, int i) {
  if constexpr (Named == Which) {
    if (p.group.scatter != nullptr) {
      int const line = scattered_row(p.group, i + at.shift);
      return line < 0 ? 0 : line;
    }
  }
  return i;
}

/// May a thread whose first column is `col` read C's 16-bit elements of two adjacent columns by one
/// load? They are adjacent in memory, the first is at an even address of words, and `end` is not
/// between the two columns of a pair.
TW_DEVICE bool c_in_pairs(epilogue_params const& p, std::byte const* row, int col, int end) {
  std::int64_t const odd = (col | end | p.c.row_stride) & 1;
  return p.c.col_stride == 1 && odd == 0 && (reinterpret_cast<std::uintptr_t>(row) & 3) == 0;
}

/// add_c for elements of C of Bytes; rows: where the thread's two rows begin.
template <int Bytes, int Results, named_lines Named, int Rows, class Fragment>
TW_DEVICE void add_c_of(epilogue_params const& p, std::byte const* const (&rows)[2],
                        fragment_place at, int end, Fragment& acc, int to) {
  TW_UNROLL
  for (int i = 0; i < Results; i += 2 * Rows) {
    TW_UNROLL
    for (int e = 0; e < 2; ++e) {
      compiler_fence();  // a column at a time
      int const c = at.col + accumulator_map::col_of_register(accumulator_map::rows / Rows * i + e);
      int const line = line_of_c<Named, named_lines::cols>(p, at, c < end ? c : end - 1);
      std::int64_t const of_col = line * p.c.col_stride * Bytes;
      TW_UNROLL
      for (int r = 0; r < Rows; ++r) {
        float& x = acc[to + i + 2 * r + e];
        std::byte const* const from = rows[r] + of_col;
        x = fmaf(p.beta,
                 Bytes == 4 ? *reinterpret_cast<words::f32 const*>(from)
                            : half_as_float(*reinterpret_cast<words::b16 const*>(from), p.c.type),
                 x);
      }
    }
  }
}

/// add_c for 16-bit elements of C that may be read in pairs of columns.
/// \pre c_in_pairs()
template <int Results, class Fragment>
TW_DEVICE void add_c_pairs(epilogue_params const& p, std::byte const* const (&rows)[2], int col,
                           int end, Fragment& acc, int to) {
  TW_UNROLL
  for (int i = 0; i < Results; i += accumulator_map::regs_of_8_cols) {
    compiler_fence();  // 8 columns at a time
    int const c = col + accumulator_map::col_of_register(i);
    int const of_col = 2 * (c < end ? c : end - 2);
    TW_UNROLL
    for (int r = 0; r < accumulator_map::rows; ++r) {
      words::b32 const pair = *reinterpret_cast<words::b32 const*>(rows[r] + of_col);
      TW_UNROLL
      for (int e = 0; e < 2; ++e) {
        float& x = acc[to + i + 2 * r + e];
        x = fmaf(p.beta, half_as_float(static_cast<std::uint16_t>(pair >> 16 * e), p.c.type), x);
      }
    }
  }
}

}  // namespace detail

/// Adds beta * C to a thread's results, which are acc[to] to acc[to + Results - 1] and have been
/// multiplied by alpha. The first of them is D(at). The thread's second row is `distance` below its
/// first one; accumulator_map has the columns. `end` is the first column after those that the CTA
/// stores. Results beyond D or `end` are not stored: any element of C is added to them, also one
/// that another thread is about to overwrite. p.c.data is not nullptr, p.c.type is a wide float,
/// p.m and `end` are at least 1. Pairs: C of 16 bits may be read two columns at a time, which takes
/// a few registers more. Named: C in the matrix at p.c.data has the lines of D that an index array
/// names. Rows: 1 if the results are of the thread's first row alone.
template <int Results, bool Pairs, named_lines Named = named_lines::none,
          int Rows = accumulator_map::rows, class Fragment>
TW_DEVICE void add_c(epilogue_params const& p, fragment_place at, int end, Fragment& acc, int to,
                     int distance = accumulator_map::row_distance) {
  static_assert(!Pairs || Rows == accumulator_map::rows);
  int const bytes = wide_float_bytes(p.c.type);
  std::byte const* const matrix =
      p.c.matrices != nullptr
          ? static_cast<std::byte const*>(p.c.matrices[at.batch])
          : static_cast<std::byte const*>(p.c.data) + at.batch * p.c.batch_stride * bytes;
  std::byte const* rows[2];
  TW_UNROLL
  for (int r = 0; r < 2; ++r) {
    int const row = at.row + distance * r;
    int const line = detail::line_of_c<Named, named_lines::rows>(p, at, row < p.m ? row : p.m - 1);
    rows[r] = matrix + line * p.c.row_stride * bytes;
  }
  if (bytes == 4)
    detail::add_c_of<4, Results, Named, Rows>(p, rows, at, end, acc, to);
  else if (Pairs && detail::c_in_pairs(p, rows[0], at.col, end))
    detail::add_c_pairs<Results>(p, rows, at.col, end, acc, to);
  else
    detail::add_c_of<2, Results, Named, Rows>(p, rows, at, end, acc, to);
}

}  // namespace tw
