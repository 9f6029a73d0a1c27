// SPDX-License-Identifier: Apache-2.0
// schedule.hpp  The launches of a rank in order, and the ranks that it waits for and sends to: pure
//               functions of path, shards and rank.
#pragma once

#include <vector>

#include "tilewright/dist/shards.hpp"

namespace tw::dist {

/// At step i rank r sends to rank r - i and receives from rank r + i, modulo P: each step is a
/// permutation of the ranks, so that no rank receives from two at once. Step 0 is the rank itself.
constexpr int receiver(int ranks, int rank, int step) { return (rank - step + ranks) % ranks; }
constexpr int sender(int ranks, int rank, int step) { return (rank + step) % ranks; }

/// All-gather + GEMM: wait until the shards of these ranks have arrived, then multiply these rows.
/// Rows may be empty: then the step only waits.
struct gather_step {
  std::vector<int> waits_for;
  range rows;
};
std::vector<gather_step> gather_steps(path via, shards const& s, int rank);

/// GEMM + reduce-scatter: compute partial results of these rows, then send each of these ranks the
/// partial results of its shard. The rank's own rows come last, and are sent to no one.
struct reduce_step {
  range rows;
  std::vector<int> sends_to;
};
std::vector<reduce_step> reduce_steps(path via, shards const& s, int rank);

}  // namespace tw::dist
