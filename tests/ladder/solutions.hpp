// SPDX-License-Identifier: Apache-2.0
// solutions.hpp  The exercises of ladder/exercises, solved.
#pragma once

#include "ladder/exercises/exercises.hpp"

namespace ladder {

struct solutions {
  static double flop_per_byte(int rows, int columns) {
    return static_cast<double>(rows * columns) / (rows + columns);
  }
  static place place_of_accumulator(int t, int v) {
    return {16 * (t / 32) + t % 32 / 4 + v / 2 % 2 * 8, v / 4 * 8 + t % 4 * 2 + v % 2};
  }
  static long long loaded_bytes(int m, int n, int k, int bm, int bn) {
    return 2LL * m * n * k / bn + 2LL * m * n * k / bm;
  }
  static slot slot_of(int k, int stages) {
    return {k % stages, static_cast<unsigned>(k / stages) & 1U};
  }
  static int consumer_registers(int consumers, int launched, int producer) {
    int const most = ((consumers + 1) * launched - producer) / consumers / 8 * 8;
    return most < 256 ? most : 256;
  }
  static place tile_of(int i, int, int n_tiles, int band) {
    int const in_band = i % (band * n_tiles);
    return {i / (band * n_tiles) * band + in_band % band, in_band / band};
  }
  static int arrivals_with_tokens(int k_blocks, int consumers) {
    return 2 * k_blocks * (1 + 128 * consumers);
  }
  static int arrivals_with_parities(int k_blocks, int consumers) {
    return k_blocks * (1 + consumers);
  }
  static unsigned same_rows(int rank, int m, int n) {
    unsigned mask = 0;
    for (int j = 0; j < n; ++j) mask |= 1U << (rank % m + m * j);
    return mask;
  }
  static int first_of_pair(int i) { return 4 * (i % 32) + 2 * (i / 32); }
  static int swizzled_byte(int row, int column) {
    return 128 * row + (column / 8 ^ row % 8) * 16 + column % 8 * 2;
  }
  static place curve(int i, int side) {
    place p{0, 0};
    for (int half = 1; half < side; half *= 2, i /= 4) {
      int const right = i / 2 % 2, down = (i + right) % 2;
      if (down == 0) {
        if (right == 1) p = {half - 1 - p.row, half - 1 - p.column};
        p = {p.column, p.row};
      }
      p = {p.row + half * down, p.column + half * right};
    }
    return p;
  }
  static double busy_share(int tiles, int sms) {
    return static_cast<double>(tiles) / ((tiles + sms - 1) / sms * sms);
  }
  static int tensor_columns(int n, int accumulators) {
    int columns = 32;
    while (columns < n * accumulators) columns *= 2;
    return columns <= 512 ? columns : 0;
  }
  static double flop_per_loaded_byte(int, int bm, int bn) {
    return static_cast<double>(bm) * bn / (bm + bn);
  }
  static int byte_of_factor(int row, int block, int blocks) {
    return (row / 128 * (blocks / 4) + block / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 +
           block % 4;
  }
};

}  // namespace ladder
