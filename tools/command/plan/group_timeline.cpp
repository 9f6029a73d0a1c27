// SPDX-License-Identifier: Apache-2.0
// group_timeline.cpp  The steps of dist/schedule.hpp with the times of a plan.
#include "tools/command/plan/group_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/dist/schedule.hpp"

namespace tw {
namespace {

using dist::path;
using dist::shards;

/// The time of rows of the GEMM, from those that the plan has. A GEMM with a gate is one launch.
double gemm_us(dist::group_plan const& g, path via, std::int64_t rows) {
  if (via == path::gated)
    return g.gated->predicted_us * static_cast<double>(rows) / static_cast<double>(g.problem.m);
  std::int64_t const m = g.problem.m, own = (m + g.ranks - 1) / g.ranks;
  if (rows == 0) return 0;
  if (rows == m) return g.gemm_us;
  if (rows <= own) return g.own_us * static_cast<double>(rows) / static_cast<double>(own);
  return g.rest_us * static_cast<double>(rows) / static_cast<double>(m - own);
}

/// A rank's two queues, and when its copies reach the peers.
struct rank_queues {
  double gemms = 0, copies = 0;
  std::vector<double> sent_at;  // to each peer
};

class call_in_time {
 public:
  call_in_time(dist::group_plan const& g, path via)
      : g_(g),
        via_(via),
        rows_(shards::even(g.problem.m, g.ranks)),
        of_(static_cast<std::size_t>(g.ranks)) {
    // All of L but the addition and the results; their exchange has separate copies.
    bool const results = g.op == dist::operation::gemm_all_reduce;
    double const launches =
        by_copies() ? g.later_us - g.addition_us - (results ? g.exchange_us : 0) : 0;
    for (rank_queues& q : of_) {
      q.gemms = q.copies = launches;
      q.sent_at.assign(static_cast<std::size_t>(g.ranks), 0);
    }
  }

  std::vector<call_block> blocks() {
    if (!splits_k(g_.op)) {
      for (int r = 0; r < g_.ranks; ++r)
        for (int i = 1; i < g_.ranks; ++i) send(r, dist::receiver(g_.ranks, r, i), 0);
      for (int r = 0; r < g_.ranks; ++r)
        for (dist::gather_step const& step : steps_of(r)) {
          for (int const from : step.waits_for) wait(r, from);
          multiply(r, step.rows);
        }
      return blocks_;
    }
    for (int r = 0; r < g_.ranks; ++r)
      for (dist::reduce_step const& step : dist::reduce_steps(via_, rows_, r)) {
        multiply(r, step.rows);
        for (int const to : step.sends_to) send(r, to, of_[at(r)].gemms);
      }
    if (!by_copies()) return blocks_;
    std::vector<double> added(of_.size());
    for (int r = 0; r < g_.ranks; ++r) {
      for (int p = 0; p < g_.ranks; ++p)
        if (p != r) wait(r, p);
      added[at(r)] = of_[at(r)].gemms + g_.addition_us;
      blocks_.push_back({r, call_act::add, false, of_[at(r)].gemms, added[at(r)]});
    }
    if (g_.op == dist::operation::gemm_all_reduce) {
      for (int r = 0; r < g_.ranks; ++r)
        for (int i = 1; i < g_.ranks; ++i) send(r, dist::receiver(g_.ranks, r, i), added[at(r)]);
    }
    return blocks_;
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  /// Copies and launches of ours, not NCCL's collective or one exchange.
  bool by_copies() const { return g_.ranks > 1 && via_ != path::serial && via_ != path::direct; }

  /// The tiles of a GEMM with a gate are in the order of pieces.
  std::vector<dist::gather_step> steps_of(int rank) const {
    return dist::gather_steps(via_ == path::gated ? path::pieces : via_, rows_, rank);
  }
  void multiply(int rank, dist::range rows) {
    double const us = gemm_us(g_, via_, rows.size);
    if (us == 0) return;
    double& now = of_[at(rank)].gemms;
    blocks_.push_back({rank, call_act::gemm, false, now, now + us, rows});
    now += us;
  }
  void send(int rank, int to, double not_before) {
    rank_queues& q = of_[at(rank)];
    double const begin = std::max(q.copies, not_before);
    q.copies = begin + exchange_us() / std::max(1, g_.ranks - 1);
    q.sent_at[at(to)] = q.copies;
    blocks_.push_back({rank, call_act::copy, true, begin, q.copies, {}, {to}});
  }
  /// The whole exchange. The launch of `direct` stores to all peers, and adds.
  double exchange_us() const {
    if (via_ == path::serial) return g_.nccl_us;
    dist::path_time const* const direct = via_ == path::direct ? g_.find(path::direct) : nullptr;
    return direct != nullptr ? direct->us - g_.gemm_us : g_.exchange_us;
  }
  void wait(int rank, int from) {
    double& now = of_[at(rank)].gemms;
    now = std::max(now, of_[at(from)].sent_at[at(rank)]);
  }

  dist::group_plan const& g_;
  path via_;
  shards rows_;
  std::vector<rank_queues> of_;
  std::vector<call_block> blocks_;
};

}  // namespace

std::vector<call_block> call_blocks(dist::group_plan const& g, path via) {
  return call_in_time(g, via).blocks();
}

std::string call_timeline_svg(dist::group_plan const& g) {
  call_picture p;
  p.ranks = g.ranks, p.engines = {0}, p.unit = "us";
  p.heading = {fmt::format("{} on {} {}, as predicted: M = {}, N = {}, K = {} of a GPU", name(g.op),
                           g.ranks, g.device_name, g.problem.m, g.problem.n, g.problem.k)};
  for (dist::path_time const& t : g.paths) {
    std::vector<call_block> blocks = call_blocks(g, t.via);
    p.panels.push_back({fmt::format("{}: {:.0f} us", name(t.via), end_of(blocks)), blocks});
  }
  return call_svg(p);
}

}  // namespace tw
