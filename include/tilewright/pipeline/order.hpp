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
/// about w / band columns of B and `band` rows of A. Products of a batch follow each other.
/// Law: place(0 .. tiles()-1) visits each of m_tiles x n_tiles x batch exactly once.
struct banded_order {
  int m_tiles, n_tiles;
  int band;
  int batch = 1;

  TW_HD constexpr int tiles() const { return m_tiles * n_tiles * batch; }
  TW_HD constexpr tile_place place(int i) const {
    int const per_product = m_tiles * n_tiles;
    int const product = batch == 1 ? 0 : i / per_product;
    i -= product * per_product;
    int const per_band = band * n_tiles;
    int const first = i / per_band * band;
    int const rows = m_tiles - first < band ? m_tiles - first : band;
    int const rest = i % per_band;
    return {first + rest % rows, rest / rows, product};
  }
};

}  // namespace tw
