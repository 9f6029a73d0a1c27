// SPDX-License-Identifier: Apache-2.0
// gate_form.hpp  The ranks of a GEMM with a gate before its loads (kernel/sm90/gate.hpp).
#pragma once

#include <array>

#include "tilewright/kernel/ranks/arena.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

struct gate_form {
  ranks_view at = {};
  /// Rank r has the rows [first_row[r], first_row[r + 1]) of A, which the launch has as a whole:
  /// rows of other ranks, and rows of this one that a tile shares with another rank.
  std::array<int, arena_ranks + 1> first_row = {};
  /// This rank's rows in the memory of the caller; nullptr: the launch's A has them too.
  void const* own = nullptr;
  matrix_desc own_a = {};
};

}  // namespace tw
