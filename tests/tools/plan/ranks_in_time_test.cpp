// SPDX-License-Identifier: Apache-2.0
// ranks_in_time_test.cpp  The recorded acts of emulated ranks in time: laws of random operations on
//                         every path.
#include <map>

#include "tests/dist/cases.hpp"
#include "tools/command/gemm/ranks_in_time.hpp"

namespace tw {
namespace {

using namespace dist::test;
using dist::act_kind;
using dist::operation;
using dist::path;
using dist::range;
using dist::recorded_act;
using dist::recorded_acts;

/// Latencies and rates of different sizes, so that neither GEMMs nor copies always take longer.
constexpr call_rates slow_links{3000, 1, 2000, 0.5, 1000, 20},
    fast_links{10, 1000, 10, 500, 10, 1000};

/// The first call of each rank, recorded, with the results of one device.
std::vector<recorded_acts> acts_of(ranks_case& c, path via) {
  auto const groups = dist::group::virtual_ranks(
      static_cast<int>(c.of_rank.size()), {.gathered_bytes = c.gathered_bytes, .timeout_s = 60});
  std::vector<recorded_acts> acts(groups.size());
  dist::run_ranks(groups, [&](dist::group const& g) {
    auto const r = static_cast<std::size_t>(g.rank());
    rank_operands& x = c.of_rank[r];
    gemm_operands o = x.o;
    o.a = x.a[0].data();
    dist::gemm_slice const mine{x.p, o};
    call(c, recorded(g, c.op, mine, acts[r]), x.p, o, {.rows = c.rows, .via = via});
    expect_part(x.d, x.want[0], 0, 0, c.text + " " + name(via));
  });
  return acts;
}

std::int64_t count(recorded_acts const& of, act_kind is) {
  return std::ranges::count_if(of.acts, [&](recorded_act const& a) { return a.is == is; });
}

bool overlap(range const& a, range const& b) {
  return std::max(a.begin, b.begin) < std::min(a.end(), b.end());
}

class ranks_in_time : public testing::Test {
 protected:
  /// The laws of a call on a path.
  void check(ranks_case c, path via, call_rates const& rates) {
    c_ = &c, via_ = via, acts_ = acts_of(c, via);
    blocks_ = blocks_in_time(acts_, rates);
    SCOPED_TRACE(c.text + " " + name(via));
    for (int r = 0; r < ranks(); ++r) {
      each_act_has_a_block(r);
      queues_are_in_order(r);
      each_row_is_multiplied_once(r);
      for (int s = 0; s < ranks(); ++s)
        if (s != r) data_are_there(s, r);
    }
  }

 private:
  int ranks() const { return static_cast<int>(c_->of_rank.size()); }
  recorded_acts const& acts(int rank) const { return acts_[static_cast<std::size_t>(rank)]; }

  /// Blocks of a rank, in the order in which they were played.
  std::vector<call_block> of(int rank, call_act act) const {
    std::vector<call_block> found;
    for (call_block const& b : blocks_)
      if (b.rank == rank && b.act == act) found.push_back(b);
    return found;
  }

  void each_act_has_a_block(int rank) const {
    std::int64_t gemms = 0, sent = 0, stored = 0;
    bool in_launch = false;
    for (recorded_act const& a : acts(rank).acts) {
      if (a.is == act_kind::gemm && a.by_gate.empty()) ++gemms;
      for (auto const& part : a.by_gate) gemms += part.rows.empty() ? 0 : 1;
      in_launch = a.is == act_kind::launch || (in_launch && a.is != act_kind::launched);
      bool const copies = a.is == act_kind::send || a.is == act_kind::copy;
      if (copies && !in_launch) ++sent;
      if (a.is == act_kind::send && in_launch) ++stored;
    }
    EXPECT_EQ(std::ssize(of(rank, call_act::gemm)), gemms);
    EXPECT_EQ(std::ssize(of(rank, call_act::add)), count(acts(rank), act_kind::add));
    std::int64_t blocks = 0, peers_of_launch = 0;
    for (call_block const& b : of(rank, call_act::copy))
      (via_ == path::direct ? peers_of_launch : blocks) +=
          via_ == path::direct ? std::ssize(b.peers) : 1;
    EXPECT_EQ(blocks, sent);
    EXPECT_EQ(peers_of_launch, stored);
  }

  /// No launch overlaps another of its rank, and no copy another of its engine.
  void queues_are_in_order(int rank) const {
    double end[2] = {0, 0};
    for (call_block const& b : blocks_) {
      if (b.rank != rank) continue;
      EXPECT_GE(b.begin, end[b.by_engine ? 1 : 0]);
      EXPECT_GE(b.end, b.begin);
      end[b.by_engine ? 1 : 0] = b.end;
    }
  }

  void each_row_is_multiplied_once(int rank) const {
    std::vector<int> times(static_cast<std::size_t>(c_->rows.extent()), 0);
    for (call_block const& b : of(rank, call_act::gemm))
      for (std::int64_t i = b.rows.begin; i < b.rows.end(); ++i)
        ++times.at(static_cast<std::size_t>(i));
    bool const multiplies = !of(rank, call_act::gemm).empty();
    EXPECT_TRUE(std::ranges::all_of(times, [&](int n) { return n == (multiplies ? 1 : 0); }))
        << "rank " << rank;
    EXPECT_EQ(multiplies, !computes_nothing(c_->of_rank[static_cast<std::size_t>(rank)].p) ||
                              (splits_k(c_->op) && c_->rows.extent() > 0));
  }

  /// The copies from a rank to another: rows of A before the GEMM that has them; partial results
  /// after the GEMM that computes them, and before they are added.
  void data_are_there(int from, int to) const {
    range const shard = c_->rows.of(splits_k(c_->op) ? to : from);
    double first = -1, landed = 0;  // of the exchange before a GEMM or an addition
    double added = 0;
    for (call_block const& b : of(from, call_act::add)) added = b.end;
    for (call_block const& b : of(from, call_act::copy)) {
      if (std::ranges::find(b.peers, to) == b.peers.end()) continue;
      if (first >= 0 && b.begin >= added && added > 0) break;  // results of an all-reduce
      if (first < 0) first = b.begin;
      landed = b.end;
    }
    if (first < 0) return;
    if (!splits_k(c_->op)) {
      for (call_block const& b : of(to, call_act::gemm)) {
        if (overlap(b.rows, shard)) EXPECT_GE(b.begin, landed) << from << " to " << to;
      }
      return;
    }
    for (call_block const& b : of(from, call_act::gemm)) {
      if (overlap(b.rows, shard)) EXPECT_LE(b.end, first) << from << " to " << to;
    }
    for (call_block const& b : of(to, call_act::add))
      EXPECT_GE(b.begin, landed) << from << " to " << to;
  }

  ranks_case* c_ = nullptr;
  path via_ = path::serial;
  std::vector<recorded_acts> acts_;
  std::vector<call_block> blocks_;
};

constexpr types halves{elem::bf16, elem::f32};

TEST_F(ranks_in_time, an_all_gather_obeys_the_laws_on_each_path) {
  for (int const ranks : {1, 2, 3, 4})
    for (std::uint64_t seed = 300; seed < 302; ++seed) {
      for (path const via : all_paths)
        check(all_gather_case(halves, seed, ranks), via, seed % 2 == 0 ? slow_links : fast_links);
      check(gated_case(halves, seed, ranks), path::gated, seed % 2 == 0 ? slow_links : fast_links);
    }
}

TEST_F(ranks_in_time, sums_obey_the_laws_on_each_path) {
  for (operation const op : {operation::gemm_reduce_scatter, operation::gemm_all_reduce})
    for (int const ranks : {1, 2, 3, 4})
      for (std::uint64_t seed = 310; seed < 312; ++seed)
        for (path const via : all_paths)
          check(reduction_case(op, halves, seed, ranks), via,
                seed % 2 == 0 ? slow_links : fast_links);
}

/// Threads of the ranks run in another order each time; the picture is the same.
TEST_F(ranks_in_time, the_picture_is_the_same_each_time) {
  for (path const via : all_paths) {
    auto const drawn = [&] {
      ranks_case c = reduction_case(operation::gemm_reduce_scatter, halves, 320, 3);
      ranks_picture const p{c.op, via, 1, 2, 3, "GPU", 2, 132, slow_links};
      return ranks_svg(p, acts_of(c, via));
    };
    std::string const svg = drawn();
    EXPECT_EQ(svg, drawn());
    for (char const* const part : {name(via), ">rank 2<", ">cycles<", "No measurement"})
      EXPECT_NE(svg.find(part), std::string::npos) << part;
    EXPECT_EQ(svg.find(">copies of rank 1<") != std::string::npos, via != path::direct);
  }
}

TEST_F(ranks_in_time, a_part_of_a_device_has_that_part_of_its_links) {
  device const& whole = known_device("h200");
  call_rates const all = rates_of(whole, whole.sm_count), half = rates_of(whole, 66);
  EXPECT_DOUBLE_EQ(half.copied_bytes, all.copied_bytes / 2);
  EXPECT_DOUBLE_EQ(half.copy, all.copy);
  dist::link_rates const links;
  EXPECT_NEAR(all.copied_bytes * whole.max_clock_mhz, links.bytes_per_us, 1e-6);
  EXPECT_NEAR(all.copy / whole.max_clock_mhz, links.copy_us, 1e-9);
}

}  // namespace
}  // namespace tw
