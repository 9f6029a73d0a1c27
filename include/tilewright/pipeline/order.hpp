// SPDX-License-Identifier: Apache-2.0
// order.hpp  Which tile comes next: pure functions from a running number to a place in the grid.
//
// Clusters that run at the same time (a wave) load rows of A and columns of B; tiles that are close
// to each other share them in L2. Every order goes through bands of `band` tile rows, a band at a
// time, and visits each tile exactly once. Inside a band:
//   grouped     columns from left to right, each from top to bottom
//   serpentine  columns alternately down and up, bands alternately to the right and to the left:
//               neighbours share an edge, and a band begins with the columns that the last one used
//   hilbert     squares of band x band along a Hilbert curve (band: a power of two), so that any
//               run of tiles is compact, not only one of band^2; the rest of a band as in
//               serpentine
// Which one to take: src/family/footprint.hpp.
#pragma once

#include <cstdint>

#include "tilewright/base/divisor.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

struct tile_place {
  int m, n;   // in units of cluster tiles
  int batch;  // which product of a batch
};

enum class order_kind : std::uint8_t { grouped, serpentine, hilbert };
inline constexpr char const* order_names[] = {"grouped", "serpentine", "hilbert"};

/// Tile i of a band: `rows` tiles high (band, or fewer in the last band), n_tiles wide.
struct band_place {
  int row, col;
};

/// Division of an index: `by`, and the quotient by hardware or by a divisor.
template <class Quotient>
struct division {
  int by;
  Quotient quotient;
};

template <class Quotient>
TW_HD constexpr band_place grouped_place(int i, division<Quotient> const& rows) {
  int const col = rows.quotient(i);
  return {i - col * rows.by, col};
}

template <class Quotient>
TW_HD constexpr band_place serpentine_place(int i, division<Quotient> const& rows) {
  band_place const p = grouped_place(i, rows);
  return {p.col % 2 == 0 ? p.row : rows.by - 1 - p.row, p.col};
}

/// Point i of the Hilbert curve through a side x side square (side: a power of two), from (0, 0) to
/// (0, side - 1). Each pair of bits of i, the lowest first, names a quadrant; entering the first or
/// the last one turns what lies inside.
TW_HD constexpr band_place hilbert_point(int i, int side) {
  int row = 0, col = 0;
  for (int half = 1; half < side; half *= 2, i /= 4) {
    int const right = i / 2 % 2, down = (i + right) % 2;
    if (down == 0) {
      if (right == 1) row = half - 1 - row, col = half - 1 - col;
      int const was_row = row;
      row = col, col = was_row;
    }
    row += half * down, col += half * right;
  }
  return {row, col};
}

template <class Quotient>
TW_HD constexpr band_place hilbert_place(int i, division<Quotient> const& rows, int band,
                                         int n_tiles) {
  int const square = band * band;
  if (rows.by < band || i >= n_tiles / band * square) return serpentine_place(i, rows);
  band_place const p = hilbert_point(i % square, band);
  return {p.row, i / square * band + p.col};
}

/// An order of the m_tiles x n_tiles tiles of `batch` matrices, one matrix after another.
/// Law: place(0 .. tiles()-1) visits each of m_tiles x n_tiles x batch exactly once.
struct tile_order {
  int m_tiles, n_tiles;
  int band;  // at least 1; a power of two for hilbert
  int batch = 1;
  order_kind kind = order_kind::grouped;

  TW_HD constexpr int tiles() const { return m_tiles * n_tiles * batch; }
  TW_HD constexpr int last_rows() const { return (m_tiles - 1) % band + 1; }  // of the last band

  /// With given quotients by the tiles of a matrix and of a band, and by the rows of a band and of
  /// the last one.
  template <class Quotient>
  TW_HD constexpr tile_place place(int i, Quotient product, Quotient of_band, Quotient rows,
                                   Quotient rows_of_last) const {
    int const which_product = batch == 1 ? 0 : product(i);
    i -= which_product * (m_tiles * n_tiles);
    int const which = of_band(i), first = which * band;
    bool const last = m_tiles - first < band;
    i -= which * (band * n_tiles);
    division<Quotient> const high =
        last ? division<Quotient>{m_tiles - first, rows_of_last} : division<Quotient>{band, rows};
    if (kind == order_kind::grouped) {
      band_place const p = grouped_place(i, high);
      return {first + p.row, p.col, which_product};
    }
    band_place const p = kind == order_kind::serpentine ? serpentine_place(i, high)
                                                        : hilbert_place(i, high, band, n_tiles);
    return {first + p.row, which % 2 == 0 ? p.col : n_tiles - 1 - p.col, which_product};
  }

  struct hardware {
    int by;
    TW_HD constexpr int operator()(int x) const { return x / by; }
  };
  /// With divisions. After the template, or clang does not evaluate it in a constant expression.
  TW_HD constexpr tile_place place(int i) const {
    return place(i, hardware{m_tiles * n_tiles}, hardware{band * n_tiles}, hardware{band},
                 hardware{last_rows()});
  }
};

/// An order as a kernel has it: its divisions are multiplications, but for those inside of a
/// Hilbert square. They come for each tile, in the loading thread and in the math warps, and took
/// 5 % of a GEMM with short K.
/// Law: place(i) is order.place(i).
struct tile_walk {
  tile_order order;
  divisor product, band, rows, rows_of_last;

  constexpr tile_walk() = default;
  constexpr explicit tile_walk(tile_order const& o)
      : order(o),
        product(o.m_tiles * o.n_tiles),
        band(o.band * o.n_tiles),
        rows(o.band),
        rows_of_last(o.last_rows()) {}

  TW_HD constexpr tile_place place(int i) const {
    return order.place(i, product, band, rows, rows_of_last);
  }
};

}  // namespace tw
