// SPDX-License-Identifier: Apache-2.0
// plan_test.cpp  The formulas of the model on numbers by hand, and the choice of a path.
#include "tilewright/dist/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dist/call.hpp"
#include "tests/dist/measured_layers.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::dist {
namespace {

constexpr operation all_operations[] = {operation::all_gather_gemm, operation::gemm_reduce_scatter,
                                        operation::gemm_all_reduce};

TEST(GroupPlanModel, BytesAndTimesAreTheFormulas) {
  // 3/4 of A (100 x 30) or of the partial results (100 x 20), of 2 bytes.
  EXPECT_DOUBLE_EQ(exchanged_bytes(operation::all_gather_gemm, 4, 100, 20, 30, 2), 4500);
  EXPECT_DOUBLE_EQ(exchanged_bytes(operation::gemm_reduce_scatter, 4, 100, 20, 30, 2), 3000);
  EXPECT_DOUBLE_EQ(exchanged_bytes(operation::gemm_all_reduce, 4, 100, 20, 30, 2), 3000);
  EXPECT_DOUBLE_EQ(exchanged_bytes(operation::all_gather_gemm, 1, 100, 20, 30, 2), 0);
  EXPECT_DOUBLE_EQ(network_bytes(operation::all_gather_gemm, 4, 2, 100, 20, 30, 2), 1500);
  EXPECT_DOUBLE_EQ(network_bytes(operation::all_gather_gemm, 4, 1, 100, 20, 30, 2), 0);
  link_rates const l{.bytes_per_us = 1000, .copy_us = 3, .network_bytes_per_us = 100};
  EXPECT_DOUBLE_EQ(exchange_us(l, 4500, 3, 0), 9 + 4.5);
  EXPECT_DOUBLE_EQ(exchange_us(l, 4500, 3, 1500), 15);  // the network takes longer
  EXPECT_DOUBLE_EQ(exchange_us(l, 0, 0, 0), 0);
  EXPECT_DOUBLE_EQ(serial_us(100, 20, 7), 127);
  EXPECT_DOUBLE_EQ(two_pieces_us(30, 80, 20, 7), 117);
  EXPECT_DOUBLE_EQ(two_pieces_us(30, 80, 50, 7), 137);
  EXPECT_DOUBLE_EQ(pieces_us(4, 30, 20, 7), 127);
  EXPECT_DOUBLE_EQ(pieces_us(4, 30, 200, 7), 237);
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 8, 20, 7), 127);
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 8, 200, 7), 237);
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 2, 200, 7), 267);  // the last rows are a tile of two
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 0.5, 20, 7), 147);
  link_rates const nccl{
      .few_us = 10, .few_bytes_per_us = 100, .many_us = 20, .many_bytes_per_us = 200};
  EXPECT_DOUBLE_EQ(nccl_us(nccl, 0), 0);
  EXPECT_DOUBLE_EQ(nccl_us(nccl, 1000), 20);
  EXPECT_DOUBLE_EQ(nccl_us(nccl, 4000), 40);
  // Three partial results of 5 x 10 elements of 2 bytes, and a sum of 4 bytes: 500 bytes.
  EXPECT_DOUBLE_EQ(addition_us({.add_us = 3, .add_bytes_per_us = 100}, 3, 5, 10, 2, 4), 8);
  EXPECT_DOUBLE_EQ(direct_us({.direct_us = 7, .direct_bytes_per_us = 100}, 20, 500), 32);
}

/// At 700 TFLOP/s and 390 GB/s about 900, 1350 and 1570 columns hide an all-gather of 2 bytes.
TEST(GroupPlanModel, FromHiddenFromOnTheGemmTakesAsLongAsTheExchange) {
  link_rates const l;
  EXPECT_NEAR(hidden_from(l, 2, 1, 700e6, 2), 897, 1);
  EXPECT_NEAR(hidden_from(l, 4, 1, 700e6, 2), 1346, 1);
  EXPECT_NEAR(hidden_from(l, 8, 1, 700e6, 2), 1571, 1);
  link_rates const free_copies{.copy_us = 0};
  for (int const ranks : {2, 4, 8}) {
    double const m = 8192, k = 4096, n = hidden_from(free_copies, ranks, 1, 700e6, 2);
    double const gemm_us = 2 * m * n * k / 700e6;
    double const bytes = exchanged_bytes(operation::all_gather_gemm, ranks, m, n, k, 2);
    EXPECT_NEAR(gemm_us, exchange_us(free_copies, bytes, ranks - 1, 0), 1e-6);
  }
  // Two hosts of 8 with 400 Gb/s for each GPU: inside of the hosts the links are the limit.
  EXPECT_NEAR(hidden_from({.bytes_per_us = 1e12}, 16, 2, 700e6, 2), 875, 1);
}

gemm_problem bf16_problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, order::row_major, k};
  p.b = {elem::bf16, order::col_major, k};
  p.d = {elem::f32, order::row_major, n};
  return p;
}

TEST(GroupPlan, TakesPiecesIfTheyHideTheExchangeElseSerial) {
  device const& h200 = known_device("h200");
  for (operation const op : all_operations) {
    group_plan const large = plan_over_ranks(op, bf16_problem(8192, 8192, 4096), 4, h200);
    EXPECT_NE(large.chosen, path::serial) << name(op);
    EXPECT_LT(large.us(), large.paths[0].us);
    EXPECT_DOUBLE_EQ(large.paths[0].us, serial_us(large.gemm_us, large.nccl_us, 0));
    gemm_problem same_bits = bf16_problem(8192, 8192, 4096);
    same_bits.reproducible = true;
    group_plan const by_copies = plan_over_ranks(op, same_bits, 4, h200);
    EXPECT_DOUBLE_EQ(by_copies.paths[0].us,
                     splits_k(op)
                         ? serial_us(by_copies.gemm_us, by_copies.exchange_us, by_copies.later_us)
                         : serial_us(by_copies.gemm_us, by_copies.nccl_us, 0));
    EXPECT_DOUBLE_EQ(large.paths[2].us,
                     pieces_us(4, large.own_us, large.exchange_us, large.later_us));
    group_plan const small = plan_over_ranks(op, bf16_problem(16, 1024, 1024), 4, h200);
    EXPECT_EQ(small.chosen, path::direct) << name(op) << ": " << small.why;
    ASSERT_NE(small.find(path::direct), nullptr);
    double const to_peer = (op == operation::gemm_all_reduce ? 16 : 4) * 1024.0 *
                           (op == operation::all_gather_gemm ? 2 : 4);
    double const added = op == operation::gemm_all_reduce ? 16 : 4;
    EXPECT_DOUBLE_EQ(small.us(), direct_us({}, small.gemm_us, 3 * to_peer) +
                                     (splits_k(op) ? addition_us({}, 4, added, 1024, 4, 4) : 0));
    EXPECT_EQ(large.find(path::direct), nullptr);
    group_plan const one = plan_over_ranks(op, bf16_problem(512, 512, 512), 1, h200);
    EXPECT_EQ(one.chosen, path::serial);
    EXPECT_DOUBLE_EQ(one.us(), one.gemm_us);
  }
}

/// L: 512 x 512 of two ranks. Partial results of float32 are 524,288 bytes of a rank, and so is D.
TEST(GroupPlan, LaunchesTheAdditionAndResultsAreNotHidden) {
  link_rates const l;
  double const addition = addition_us(l, 2, 256, 512, 4, 4);
  auto const of = [&](operation op) {
    return plan_over_ranks(op, bf16_problem(512, 512, 512), 2, known_device("h200"));
  };
  EXPECT_DOUBLE_EQ(of(operation::all_gather_gemm).later_us, l.call_us);
  group_plan const sum = of(operation::gemm_reduce_scatter);
  EXPECT_DOUBLE_EQ(sum.addition_us, addition);
  EXPECT_DOUBLE_EQ(sum.later_us, l.call_us + addition);
  EXPECT_DOUBLE_EQ(of(operation::gemm_all_reduce).later_us,
                   2 * l.call_us + addition + sum.exchange_us + 2 * 524288 / l.add_bytes_per_us);
  EXPECT_EQ(plan_over_ranks(operation::gemm_all_reduce, bf16_problem(512, 512, 512), 1,
                            known_device("h200"))
                .later_us,
            0);
}

/// The elements of path_key that every rank has.
path default_of(operation op, gemm_problem const& p, int ranks) {
  elem const type = splits_k(op) ? partial_type(p, false) : p.a.type;
  std::int64_t const extent = splits_k(op) ? p.n : p.k;
  std::int64_t const rows = op == operation::gemm_all_reduce ? p.m : (p.m + ranks - 1) / ranks;
  return default_path({op, ranks, type, p.m, extent, ""}, rows * extent * size_bits(type) / 8,
                      true);
}

/// Two pieces of two ranks are their pieces: 5 % between these paths is the noise of the table.
TEST(GroupPlan, ChoosesTheFastestPathOfMeasuredLayersAsCallsDo) {
  for (measured::layer const& x : measured::layers) {
    gemm_problem p = bf16_problem(x.m, x.n, x.k);
    p.d.type = elem::bf16;
    group_plan const g = plan_over_ranks(x.op, p, 2, known_device("h200"));
    std::string const layer = std::string(name(x.op)) + " " + std::to_string(x.m) + "x" +
                              std::to_string(x.n) + "x" + std::to_string(x.k);
    double fastest = std::numeric_limits<double>::infinity();
    for (path_time const& t : g.paths) {
      double const us = x.us[static_cast<int>(t.via)];
      if (us == 0) continue;
      fastest = std::min(fastest, us);
      // Large GEMMs run at lower clocks than the planner has.
      EXPECT_GT(t.us, 0.8 * us) << layer << " " << name(t.via);
      EXPECT_LT(t.us, 1.06 * us) << layer << " " << name(t.via);
    }
    ASSERT_GT(x.us[static_cast<int>(g.chosen)], 0) << layer << " " << name(g.chosen);
    EXPECT_LE(x.us[static_cast<int>(g.chosen)], 1.07 * fastest) << layer << " " << name(g.chosen);
    EXPECT_EQ(default_of(x.op, p, 2), g.chosen) << layer;
  }
}

/// Calls choose by facts that all ranks have, and lose little by the model.
TEST(GroupPlan, DefaultPathsAreNearTheFastestOnes) {
  for (operation const op : all_operations)
    for (int const ranks : {2, 4, 8})
      for (std::int64_t m = 16; m <= 16384; m *= 2)
        for (std::int64_t const extent : {2048, 8192}) {
          gemm_problem p = bf16_problem(m, extent, extent);
          p.d.type = elem::bf16;
          group_plan const g = plan_over_ranks(op, p, ranks, known_device("h200"));
          double fastest = std::numeric_limits<double>::infinity();
          for (path_time const& t : g.paths)
            if (t.via != path::gated) fastest = std::min(fastest, t.us);
          path const via = default_of(op, p, ranks);
          ASSERT_NE(g.find(via), nullptr) << name(via);
          EXPECT_LE(g.find(via)->us, 1.25 * fastest)
              << name(op) << " " << ranks << " ranks " << m << " " << extent << ": " << name(via)
              << ", " << name(g.chosen);
        }
}

/// An all-gather whose kernels have a gate has path::gated, and the plan names the kernel. Plans of
/// other calls lack the path.
TEST(GroupPlan, NamesTheKernelWithAGate) {
  device const& h200 = known_device("h200");
  operation const op = operation::all_gather_gemm;
  gemm_problem p = bf16_problem(8192, 3072, 4096);
  p.d.type = elem::bf16;
  group_plan const g = plan_over_ranks(op, p, 4, h200);
  ASSERT_TRUE(g.gated);
  ASSERT_NE(g.find(path::gated), nullptr);
  EXPECT_DOUBLE_EQ(g.find(path::gated)->us, gated_us(4, g.gated->predicted_us, g.gated->terms.waves,
                                                     g.exchange_us, g.later_us));
  EXPECT_NE(g.chosen, path::gated);  // calls take it only if it is named or measured
  EXPECT_TRUE(g.gated->family->has_gate(*g.gated));
  gemm_problem quantised = p;  // by a launch after the GEMM, whose D is float32
  quantised.d.type = elem::e4m3;
  quantised.scale_d = output_scales{make_scale({false, p.m, p.n}, scaling::row)};
  EXPECT_FALSE(plan_over_ranks(op, quantised, 4, h200).gated);
  p.b.ord = order::row_major, p.b.pitch_elems = p.n;
  group_plan const other = plan_over_ranks(op, p, 4, h200);
  EXPECT_FALSE(other.gated);
  EXPECT_NE(other.no_gate, "");
  EXPECT_EQ(other.find(path::gated), nullptr);
  for (operation const sum : {operation::gemm_reduce_scatter, operation::gemm_all_reduce})
    EXPECT_EQ(plan_over_ranks(sum, bf16_problem(8192, 3072, 4096), 4, h200).find(path::gated),
              nullptr);
}

TEST(GroupPlan, IsSerialByNcclWithoutPeerAccess) {
  group_plan const g = plan_over_ranks(operation::gemm_all_reduce, bf16_problem(8192, 8192, 4096),
                                       2, known_device("h200"), {}, 1, false);
  EXPECT_EQ(g.chosen, path::serial);
  ASSERT_EQ(g.paths.size(), 1U);
  EXPECT_TRUE(std::isnan(g.us()) && std::isnan(g.exchange_us));  // the model is of P2P
  EXPECT_FALSE(g.gated);
  EXPECT_NE(g.why.find("no P2P"), std::string::npos);
}

TEST(GroupPlan, HasTheStepsOfRank0OnTheChosenPath) {
  for (operation const op : all_operations)
    for (int const ranks : {1, 3, 17}) {
      group_plan const g =
          plan_over_ranks(op, bf16_problem(4096, 4096, 4096), ranks, known_device("h200"));
      EXPECT_EQ(g.rows.ranks(), ranks <= max_ranks ? ranks : 0);
      if (ranks <= max_ranks) {
        EXPECT_EQ(g.steps, steps_in_words(op, g.chosen, shards::even(4096, ranks), 0));
      } else {
        EXPECT_TRUE(g.steps.empty());
      }
      EXPECT_NE(to_text(g).find(std::string(name(g.chosen)) + ": " + g.why), std::string::npos);
    }
}

/// In the words of a path each rank is named, and all rows are multiplied.
TEST(GroupPlan, StepsInWordsAreThoseOfTheSchedule) {
  shards const rows({3, 2, 0});
  using list = std::vector<std::string>;
  auto const ag = operation::all_gather_gemm, rs = operation::gemm_reduce_scatter;
  EXPECT_EQ(steps_in_words(ag, path::pieces, rows, 0),
            (list{"copy engines send 3 rows from 0 to ranks 2, 1, during the GEMMs",
                  "GEMM of 3 rows from 0", "wait for rank 1, then GEMM of 2 rows from 3",
                  "wait for rank 2"}));
  EXPECT_EQ(steps_in_words(ag, path::direct, rows, 1),
            (list{"one launch stores 2 rows from 3 to ranks 0, 2, and waits for theirs",
                  "GEMM of 5 rows from 0"}));
  EXPECT_EQ(steps_in_words(rs, path::serial, rows, 0),
            (list{"GEMM of 5 rows from 0, then send partial results to ranks 2, 1",
                  "wait for ranks 1, 2, then add 3 rows from 0 in the order of the ranks"}));
  EXPECT_EQ(steps_in_words(operation::gemm_all_reduce, path::two_pieces, rows, 1).size(), 5U);
  EXPECT_EQ(steps_in_words(rs, path::serial, rows, 0, true)[1],
            "NCCL's reduce-scatter of the partial results");
  EXPECT_EQ(steps_in_words(ag, path::gated, shards({5}), 0), list{"GEMM of 5 rows from 0"});
}

TEST(GroupPlan, HostsThatDoNotDivideTheRanksAreRefused) {
  device const& h200 = known_device("h200");
  for (auto const& [ranks, hosts] : {std::pair{8, 3}, {8, 0}, {0, 1}, {5000, 1}}) try {
      plan_over_ranks(operation::all_gather_gemm, bf16_problem(64, 64, 64), ranks, h200, {}, hosts);
      ADD_FAILURE() << ranks << " ranks on " << hosts << " hosts";
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0903");
    }
}

}  // namespace
}  // namespace tw::dist
