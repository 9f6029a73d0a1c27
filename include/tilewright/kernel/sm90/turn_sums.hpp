// SPDX-License-Identifier: Apache-2.0
// turn_sums.hpp  Consumers of the same rows take the K blocks of a tile in turn. At the end of a
//                tile each consumer writes its sums to shared memory, and the consumer of turn 0
//                adds them and stores D.
//
// Stage i of the ring is read by the consumer of turn i modulo k_turns, and the number of stages is
// a multiple of k_turns. A stage has one reader in all rounds of the ring, so that the parity of
// its phase is enough for this reader. The first block of a tile may lie in any stage: consumer t
// multiplies the blocks place, place + k_turns, ... of the tile. Sums are added in the order of the
// places, so that the bits of D do not depend on the stage of the first block.
#pragma once

#include <type_traits>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/quad.hpp"
#include "tilewright/kernel/sm90/sums.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

template <gemm_config C>
struct turn_sums {
  static constexpr int turns = C.k_turns, threads = turns * warpgroup_threads;
  static constexpr int quads = C.tile_n / wgmma_n_step;  // of a thread
  using given = sums_of<C, C.tile_n>;
  using quad = tw::quad<sum_type<C>>;

  struct parts {
    quad part[C.math_warpgroups()][turns][quads][warpgroup_threads];
  };
  struct none {};
  using smem = std::conditional_t<(turns > 1), parts, none>;

  /// The place in the order of a tile's blocks of the consumer of turn `turn`, if the first block
  /// is in stage `first`.
  TW_DEVICE static int place_of(int turn, int first) {
    return (turn + turns - first % turns) % turns;
  }
  /// Blocks of `blocks` that the consumer at `place` multiplies.
  TW_DEVICE static int blocks_of(int place, int blocks) {
    return blocks <= place ? 0 : (blocks - place - 1) / turns + 1;
  }

  /// Before a consumer gives the sums of another tile: the parts of the tile before have been read.
  TW_DEVICE static void wait_until_read(int rows, int turn) {
    if (turn > 0) named_barrier_sync(parts_read + rows, threads);
  }
  /// The sums of the blocks of the consumer at `place`.
  TW_DEVICE static void give(smem& s, int rows, int place, given& acc) {
    TW_UNROLL
    for (int q = 0; q < quads; ++q)
      s.part[rows][place][q][thread_id() % warpgroup_threads] =
          quad{{acc[0][4 * q], acc[0][4 * q + 1], acc[0][4 * q + 2], acc[0][4 * q + 3]}};
  }
  /// Zeros, from a consumer without blocks.
  TW_DEVICE static void give_zeros(smem& s, int rows, int place) {
    TW_UNROLL
    for (int q = 0; q < quads; ++q) s.part[rows][place][q][thread_id() % warpgroup_threads] = {};
  }
  /// After giving. In the consumer of turn 0: sum = the sums of all consumers of the warpgroup's
  /// rows, and the result is true. `more`: another tile follows.
  TW_DEVICE static bool take(smem& s, int rows, int turn, given& sum, bool more) {
    if (turn > 0) {
      named_barrier_arrive(parts_given + rows, threads);
      return false;
    }
    named_barrier_sync(parts_given + rows, threads);
    TW_UNROLL
    for (int q = 0; q < quads; ++q) {
      quad x = s.part[rows][0][q][thread_id() % warpgroup_threads];
      TW_UNROLL
      for (int i = 1; i < turns; ++i) {
        quad const y = s.part[rows][i][q][thread_id() % warpgroup_threads];
        TW_UNROLL
        for (int e = 0; e < 4; ++e) x.v[e] += y.v[e];
      }
      TW_UNROLL
      for (int e = 0; e < 4; ++e) sum[0][4 * q + e] = x.v[e];
    }
    if (more) named_barrier_arrive(parts_read + rows, threads);
    return true;
  }

 private:
  // Named barriers, one for each part of the rows: 1 to 4 are the epilogue's.
  static constexpr int parts_given = 5, parts_read = 9;
};

}  // namespace tw
