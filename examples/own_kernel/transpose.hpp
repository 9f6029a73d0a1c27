// SPDX-License-Identifier: Apache-2.0
// transpose.hpp  A transpose through shared memory in ordinary loads and stores.
#pragma once

#include "tilewright/arch/select.hpp"

using namespace tw;

/// out(c, r) = in(r, c); CTA i turns the i-th tile of 32 x 32.
struct transpose {
  static constexpr int threads = 256, cluster = 1, tile = 32;
  struct smem {
    float rows[tile][tile + 1];  // one more column: no bank conflicts
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    float const* in;  // (rows, cols)
    float* out;       // (cols, rows)
    int rows, cols;
    bool forget_the_barrier;
  };

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const across = p.cols / tile;
    int const row = cta_id() / across * tile, col = cta_id() % across * tile;
    int const x = thread_id() % tile, y = thread_id() / tile;
    for (int r = y; r < tile; r += threads / tile)
      s.rows[r][x] = p.in[(row + r) * p.cols + col + x];
    if (!p.forget_the_barrier) cta_sync();
    for (int r = y; r < tile; r += threads / tile)
      p.out[(col + r) * p.rows + row + x] = s.rows[x][r];
  }
};
