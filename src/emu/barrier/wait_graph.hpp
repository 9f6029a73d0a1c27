// SPDX-License-Identifier: Apache-2.0
// wait_graph.hpp  Who waits for whom in a cluster that is stuck: each barrier with the threads that
//                 have not arrived at it, and the barriers at which these threads wait.
#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

#include "emu/machine/state.hpp"

namespace tw::emu {

class wait_graph {
 public:
  /// An object that threads wait for, and the first thread that waits for it.
  struct node {
    thread const* first;
    int kind;          // 0: bytes or columns, 1: another mbarrier, 2: another object
    int upstream = 0;  // objects that must complete before this one and do not wait for it
    std::vector<std::size_t> needs;
  };

  explicit wait_graph(cluster_state const& c);

  /// An object comes before the objects that depend on it. In a circle, the object at which a
  /// thread has waited longest comes first: the thread that came last has passed the place of the
  /// missing arrive.
  std::vector<node> const& nodes() const { return nodes_; }
  /// Order of the objects of all clusters in a report: the order of nodes(), merged. t waits.
  using rank = std::tuple<int, int, std::ptrdiff_t>;  // upstream, kind, index in nodes()
  rank rank_of(thread const& t) const;

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
