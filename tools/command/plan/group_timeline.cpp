// SPDX-License-Identifier: Apache-2.0
// group_timeline.cpp  The steps of dist/schedule.hpp with the times of a plan.
#include "tools/command/plan/group_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/dist/schedule.hpp"
#include "tools/picture/escape.hpp"
#include "tools/picture/palette.hpp"

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
      blocks_.push_back({r, false, of_[at(r)].gemms, added[at(r)], {}});
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
    blocks_.push_back({rank, false, now, now + us, rows});
    now += us;
  }
  void send(int rank, int to, double not_before) {
    rank_queues& q = of_[at(rank)];
    double const begin = std::max(q.copies, not_before);
    q.copies = begin + exchange_us() / std::max(1, g_.ranks - 1);
    q.sent_at[at(to)] = q.copies;
    blocks_.push_back({rank, true, begin, q.copies, {}, to});
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
  constexpr double width = 720, left = 100, right = 16, row = 20, bar = 16, gap = 14, head = 26;
  paper const& paint = light_paper;
  int const rows = g.ranks + 1;
  double longest = 0;
  std::vector<std::vector<call_block>> all;
  for (dist::path_time const& t : g.paths) {
    all.push_back(call_blocks(g, t.via));
    for (call_block const& b : all.back()) longest = std::max(longest, b.end);
  }
  double const of_path = head + rows * row + gap,
               height = of_path * static_cast<double>(all.size());
  auto const x = [&](double us) { return left + us / longest * (width - left - right); };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"{3}\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"{2}\"/>\n",
      width, height, paint.ground, paint.text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    double const top = static_cast<double>(i) * of_path, first = top + head;
    double end = 0;
    for (call_block const& b : all[i]) end = std::max(end, b.end);
    text += fmt::format("<text x=\"8\" y=\"{:.1f}\" font-weight=\"bold\">{}: {:.0f} us</text>\n",
                        top + 17, name(g.paths[i].via), end);
    for (int r = 0; r < rows; ++r)
      text += fmt::format("<text x=\"8\" y=\"{:.1f}\">{}</text>\n", first + r * row + 12,
                          r < g.ranks ? fmt::format("rank {}", r) : "copies of rank 0");
    for (call_block const& b : all[i]) {
      if (b.copy && b.rank != 0) continue;
      double const w = x(b.end) - x(b.begin), y = first + (b.copy ? g.ranks : b.rank) * row;
      bool const adds = !b.copy && b.rows.empty();
      std::string const label = b.copy ? fmt::format("to {}", b.peer)
                                : adds ? "add"
                                       : fmt::format("rows {}-{}", b.rows.begin, b.rows.end() - 1);
      text += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" "
          "stroke=\"{}\" stroke-width=\"0.5\"><title>{}: {:.1f} to {:.1f} us</title></rect>\n",
          x(b.begin), y, w, bar, paint.fill[b.copy ? 1 : 0], paint.line,
          xml_text((b.copy ? "copy "
                    : adds ? ""
                           : "GEMM of ") +
                   label),
          b.begin, b.end);
      constexpr double pixels_of_char = 6.2;
      if (w > pixels_of_char * static_cast<double>(label.size()) + 4)
        text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x(b.begin) + 4, y + 12,
                            xml_text(label));
    }
  }
  return text + "</svg>\n";
}

}  // namespace tw
