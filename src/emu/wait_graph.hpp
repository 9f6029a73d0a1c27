// SPDX-License-Identifier: Apache-2.0
// wait_graph.hpp  Who waits for whom in a cluster that is stuck: a barrier, the threads whose
//                 arrivals it lacks, the barriers at which those wait.
#pragma once

#include <cstddef>
#include <vector>

#include "emu/state.hpp"

namespace tw::emu {

class wait_graph {
 public:
  /// An object that threads wait for, and the first thread that waits for it.
  struct node {
    thread const* first;
    int kind;          // 0: bytes or columns, 1: another mbarrier, 2: another object
    int upstream = 0;  // objects that must come true first, and do not depend on this one
    std::vector<std::size_t> needs;
  };

  explicit wait_graph(cluster_state const& c);

  /// The most upstream one first: what the others wait for, directly or not. In a circle, that at
  /// which a thread has waited longest: who came last has passed the place of the missing arrive.
  std::vector<node> const& nodes() const { return nodes_; }
  /// The place of the object that t waits for among those of all clusters.
  int rank_of(thread const& t) const;

 private:
  std::vector<node> nodes_;
};

bool waits_for_mbarrier(thread const& t);
/// The mbarrier that t waits for; null: it waits for none.
mbarrier_state const* mbarrier_of(thread const& t);
/// Threads of the cluster that have arrived at the barrier in earlier phases, not in this one, and
/// do not wait for it.
std::vector<thread const*> missing_arrivals(cluster_state const& c, mbarrier_state const& b);

}  // namespace tw::emu
