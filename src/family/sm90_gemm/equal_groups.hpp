// SPDX-License-Identifier: Apache-2.0
// equal_groups.hpp  Groups as the model sees them: a batch of GEMMs of one size.
#pragma once

#include <algorithm>

#include "tilewright/problem/group_slices.hpp"

namespace tw {

/// How many rows, columns or elements of K the planner takes a group to have.
inline std::int64_t expected_size_of(gemm_problem const& q) {
  group_desc const& g = *q.groups;
  std::int64_t const all = ragged_extent(q);
  std::int64_t const equal = g.slots() ? all : (all + g.count - 1) / g.count;
  return std::clamp<std::int64_t>(g.expected_size == 0 ? equal : g.expected_size, 1, all);
}

/// The batch of GEMMs that takes as long, if all groups have the expected size. Predictions
/// and the order of tiles come from it. A problem without groups is itself.
inline gemm_problem equal_groups(gemm_problem q) {
  if (!q.groups) return q;
  group_desc const g = *q.groups;
  std::int64_t const size = expected_size_of(q);
  ragged_extent(q, g.axis) = size;
  q.batch = g.count;
  q.groups.reset();
  // Distances matter to the model only as far as they are 0, for a matrix that all share.
  auto const spread = [&](matrix_desc& m) {
    if (m.batch_stride_elems == 0) m.batch_stride_elems = size * m.pitch_elems;
  };
  if (g.axis != group_axis::n) spread(q.a);
  if (g.axis != group_axis::m) spread(q.b);
  if (g.axis != group_axis::k) spread(q.d);
  if (q.c && g.axis != group_axis::k) spread(*q.c);
  return q;
}

/// The most cluster tiles of `rows` that groups of a total can have: each begins a tile.
inline std::int64_t most_steps_of_groups(gemm_problem const& q, int rows) {
  group_desc const& g = *q.groups;
  std::int64_t const all = g.axis == group_axis::m ? q.m : q.n;
  if (g.slots()) return g.count * ((all + rows - 1) / rows);
  if (g.form == group_form::rows) {  // a group may begin anew after each 128
    std::int64_t const most = std::min(rows, group_alignment);
    return (all + most - 1) / most;
  }
  return std::min(all, all / rows + g.count);
}

}  // namespace tw
