// SPDX-License-Identifier: Apache-2.0
// exercises.hpp  One exercise for each rung: fill in the functions, then run ladder_exercises.
//
//     ninja -C build ladder_exercises && build/bin/ladder_exercises
//
// docs/tutorial explains each. A function is wrong as long as it returns 0, -1 or {}.
#pragma once

#include <cstdint>

namespace ladder {

struct place {
  int row, column;
  bool operator==(place const&) const = default;
};
struct slot {
  int stage;
  unsigned parity;
  bool operator==(slot const&) const = default;
};

struct exercises {
  /// 1. A thread computes rows x columns elements of D. In each step it loads 8 elements along K of
  /// each of its rows of A and columns of B, 2 bytes each. FLOP per loaded byte?
  static double flop_per_byte([[maybe_unused]] int rows, [[maybe_unused]] int columns) { return 0; }

  /// 2. Element v of thread t (0 to 127) of the accumulator of wgmma m64nN: its row and column in
  /// D. PTX ISA, "Matrix Fragments for wgmma.mma_async".
  static place place_of_accumulator([[maybe_unused]] int t, [[maybe_unused]] int v) { return {}; }

  /// 3. Bytes that TMA loads in a GEMM of m x n x k in bf16 with tiles of bm x bn, all extents
  /// whole tiles.
  static long long loaded_bytes([[maybe_unused]] int m, [[maybe_unused]] int n,
                                [[maybe_unused]] int k, [[maybe_unused]] int bm,
                                [[maybe_unused]] int bn) {
    return 0;
  }

  /// 4. The stage of K block k in a ring of `stages`, and the parity of the phase in which it lands
  /// there.
  static slot slot_of([[maybe_unused]] int k, [[maybe_unused]] int stages) { return {}; }

  /// 5. The largest number of registers for setmaxnreg.inc in each of `consumers` warpgroups, when
  /// the producer's warpgroup keeps `producer`. setmaxnreg takes multiples of 8 up to 256; the CTA
  /// was launched with `launched` registers for each thread.
  static int consumer_registers([[maybe_unused]] int consumers, [[maybe_unused]] int launched,
                                [[maybe_unused]] int producer) {
    return 0;
  }

  /// 6. The i-th tile of an order that goes through bands of `band` tile rows, column by column,
  /// each column from top to bottom. m_tiles is a multiple of the band.
  static place tile_of([[maybe_unused]] int i, [[maybe_unused]] int m_tiles,
                       [[maybe_unused]] int n_tiles, [[maybe_unused]] int band) {
    return {};
  }

  /// 7. Arrivals at all mbarriers of a CTA in a tile of k_blocks K blocks: with tokens (every
  /// thread that waits arrives; `consumers` warpgroups and one producer thread wait), and with
  /// parities.
  static int arrivals_with_tokens([[maybe_unused]] int k_blocks, [[maybe_unused]] int consumers) {
    return 0;
  }
  static int arrivals_with_parities([[maybe_unused]] int k_blocks, [[maybe_unused]] int consumers) {
    return 0;
  }

  /// 8. The mask of the CTAs that need the rows of A of CTA `rank` in a cluster of m x n CTAs (rank
  /// = row + m * column; CTAs of a row share rows of A).
  static unsigned same_rows([[maybe_unused]] int rank, [[maybe_unused]] int m,
                            [[maybe_unused]] int n) {
    return 0;
  }

  /// 9. In which order does a thread store its 128 elements of a 64 x 256 tile in pairs, row by row
  /// from left to right? The index of the first element of the i-th pair, i from 0 to 63.
  static int first_of_pair([[maybe_unused]] int i) { return 0; }

  /// 10. The byte at which element (row, column) of a 64 x 64 tile of bf16 lies in shared memory
  /// with the 128-byte swizzle: 16-byte units are exchanged, unit by (row mod 8).
  static int swizzled_byte([[maybe_unused]] int row, [[maybe_unused]] int column) { return 0; }

  /// 11. Point i of a curve through a side x side square (a power of two) that visits each cell
  /// once, where every 4^j consecutive points from a multiple of 4^j on are a square and
  /// neighbours on the curve are neighbours in the square.
  static place curve([[maybe_unused]] int i, [[maybe_unused]] int side) { return {}; }

  /// 12. The share of the SMs' time in which they compute, if `sms` CTAs take `tiles` tiles of
  /// equal cost one after another: 1 if each SM always has a tile.
  static double busy_share([[maybe_unused]] int tiles, [[maybe_unused]] int sms) { return 0; }

  /// 13. Columns of tensor memory to allocate for `accumulators` tiles of 128 x n float32 sums. An
  /// allocation is a power of two, at least 32 and at most 512. 0 if they do not fit.
  static int tensor_columns([[maybe_unused]] int n, [[maybe_unused]] int accumulators) {
    return -1;
  }

  /// 14. FLOP for each byte of A and B that TMA loads, in bf16: `ctas` CTAs (1 or 2) multiply
  /// together and compute a tile of bm x bn. Each loads its share of the rows of A and of the
  /// columns of B.
  static double flop_per_loaded_byte([[maybe_unused]] int ctas, [[maybe_unused]] int bm,
                                     [[maybe_unused]] int bn) {
    return 0;
  }

  /// 15. The byte at which the scale factor of row `row` and block `block` along K lies in global
  /// memory, if a row has `blocks` blocks, a multiple of 4. 512 bytes are 128 rows and 4 blocks.
  static int byte_of_factor([[maybe_unused]] int row, [[maybe_unused]] int block,
                            [[maybe_unused]] int blocks) {
    return -1;
  }
};

}  // namespace ladder
