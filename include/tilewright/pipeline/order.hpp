// SPDX-License-Identifier: Apache-2.0
// order.hpp  Which tile comes next: a pure function from a running number to a place in the grid.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

struct tile_place {
  int m, n;   // in units of cluster tiles
  int batch;  // which product of a batch
};

/// The order that keeps operands in L2: bands of `band` tile rows; inside a band columns from left
/// to right, and in each column its rows from top to bottom. A wave of w clusters then touches
/// about w / band columns of B and `band` rows of A. along_m exchanges rows and columns: bands of
/// `band` tile columns. Products of a batch follow each other.
/// Law: place(0 .. tiles()-1) visits each of m_tiles x n_tiles x batch exactly once.
struct banded_order {
  int m_tiles, n_tiles;
  int band;
  int batch = 1;
  bool along_m = false;

  TW_HD constexpr int tiles() const { return m_tiles * n_tiles * batch; }
  TW_HD constexpr tile_place place(int i) const {
    int const per_product = m_tiles * n_tiles;
    int const product = batch == 1 ? 0 : i / per_product;
    i -= product * per_product;
    int const across = along_m ? n_tiles : m_tiles, length = along_m ? m_tiles : n_tiles;
    int const per_band = band * length;
    int const first = i / per_band * band;
    int const width = across - first < band ? across - first : band;
    int const rest = i % per_band;
    int const x = first + rest % width, y = rest / width;
    return along_m ? tile_place{y, x, product} : tile_place{x, y, product};
  }
};

}  // namespace tw
