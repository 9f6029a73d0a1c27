// SPDX-License-Identifier: Apache-2.0
// plan_test.cpp  The formulas of the model on numbers by hand, and the choice of a path.
#include "tilewright/dist/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 20), 120);
  EXPECT_DOUBLE_EQ(gated_us(4, 120, 200), 230);
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
    EXPECT_DOUBLE_EQ(large.paths[0].us,
                     serial_us(large.gemm_us, large.exchange_us, large.later_us));
    EXPECT_DOUBLE_EQ(large.paths[2].us,
                     pieces_us(4, large.own_us, large.exchange_us, large.later_us));
    group_plan const small = plan_over_ranks(op, bf16_problem(16, 1024, 1024), 8, h200);
    EXPECT_EQ(small.chosen, path::direct) << name(op) << ": " << small.why;
    ASSERT_NE(small.find(path::direct), nullptr);
    double const to_peer = (op == operation::gemm_all_reduce ? 16 : 2) * 1024.0 *
                           (op == operation::all_gather_gemm ? 2 : 4);
    EXPECT_DOUBLE_EQ(small.us(), direct_us({}, small.gemm_us, 7 * to_peer));
    EXPECT_EQ(large.find(path::direct), nullptr);
    group_plan const one = plan_over_ranks(op, bf16_problem(512, 512, 512), 1, h200);
    EXPECT_EQ(one.chosen, path::serial);
    EXPECT_DOUBLE_EQ(one.us(), one.gemm_us);
  }
  EXPECT_EQ(
      plan_over_ranks(operation::gemm_all_reduce, bf16_problem(512, 512, 512), 2, h200).later_us,
      plan_over_ranks(operation::gemm_reduce_scatter, bf16_problem(512, 512, 512), 2, h200)
          .exchange_us);
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
  EXPECT_DOUBLE_EQ(g.find(path::gated)->us, gated_us(4, g.gated->predicted_us, g.exchange_us));
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
