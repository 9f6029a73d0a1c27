// SPDX-License-Identifier: Apache-2.0
// plan_test.cpp  Plans, their reasons and needs; every plan is compiled in.
#include "dispatch/params.hpp"

#include <gtest/gtest.h>

#include "dispatch/winners.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

TEST(Plan, AFusedEpilogueHasItsOwnKernels) {
  gemm_problem p = tn(4096, 4096, 4096);
  p.epilogue.act = activation::silu;
  for (gemm_plan const& plan : plan_candidates(p, aligned(), h200()))
    EXPECT_EQ(plan.config.fused, fusion::ops) << plan.kernel;
  p.epilogue.gate = gating::split;
  for (gemm_plan const& plan : plan_candidates(p, aligned(), h200())) {
    EXPECT_EQ(plan.config.fused, fusion::gated) << plan.kernel;
    EXPECT_FALSE(plan.swapped);
  }
  p = tn(64, 64, 64);
  p.epilogue.act = activation::relu;
  p.d.type = elem::f16;
  try {
    plan_gemm(p, aligned(), h200());
    FAIL() << "an f16 result of bf16 operands has no fused kernel";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0414");
  }
}

TEST(Plan, ADeviceHasAnSm) {
  for (int const sms : {0, -1}) {
    try {
      plan_gemm(tn(64, 64, 64), aligned(), sms);
      FAIL() << sms;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0429");
      EXPECT_EQ(r.why().got, std::to_string(sms));
    }
  }
}

TEST(Plan, SwapABExchangesTheVectorsOfRowsAndColumns) {
  gemm_problem p = tn(4, 4096, 4096);
  p.epilogue.bias = along::cols;
  p.epilogue.row_scale = true;
  gemm_plan const plan = plan_gemm(p, aligned(), h200());
  ASSERT_TRUE(plan.swapped) << plan.why;
  EXPECT_EQ(plan.normal.epilogue.bias, along::rows);
  EXPECT_FALSE(plan.normal.epilogue.row_scale);
  EXPECT_TRUE(plan.normal.epilogue.col_scale);
}

TEST(Plan, TheLargestProblemHasAPlan) {
  for (elem const d : {elem::bf16, elem::f16, elem::f32}) {
    gemm_problem p = tn(std::int64_t{1} << 21, std::int64_t{1} << 21, 8);
    p.d.type = d;
    EXPECT_GT(plan_gemm(p, aligned(), h200()).clusters, 0);
  }
}

TEST(Plan, EveryAcceptedProblemHasAPlanOnAnyNumberOfSMs) {
  for (int const sms : {1, 2, 3, 7, 64, 131, 132, 200})
    for (int const size : {1, 8, 127, 4096}) {
      gemm_operands o = aligned();
      o.workspace = o.d;
      o.workspace_bytes = -1;
      EXPECT_FALSE(plan_candidates(tn(size, 4096 / size, 64), o, sms).empty());
      o.workspace_bytes = std::int64_t{64} << 20;
      for (gemm_plan const& p : plan_candidates(tn(size, 4096 / size, 64 * size), o, sms)) {
        EXPECT_GE(p.clusters, 1);
        EXPECT_LE(p.sharers, p.clusters);
        EXPECT_TRUE(p.built) << p.kernel;
      }
    }
}

TEST(Plan, AKernelThatIsNotCompiledInIsRefused) {
  std::vector<std::uint16_t> memory(64 * 64);
  gemm_operands const o{memory.data(), memory.data(), nullptr, memory.data()};
  gemm_plan plan = plan_gemm(tn(16, 16, 16), o, 2);
  plan.config.tile_n = 200;
  try {
    gemm_emulated(plan, o);
    FAIL() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0505");
  }
}

TEST(Plan, LargeProblemsTakeTheLargeTile) {
  std::vector<gemm_plan> const plans = plan_candidates(tn(8192, 8192, 8192), aligned(), h200());
  gemm_config const& c = plans[0].config;
  EXPECT_GE(c.tile_m * c.tile_n, 128 * 192) << plans[0].why;
  EXPECT_TRUE(plans[0].hints.empty());
  for (gemm_plan const& p : plans)
    if (p.kernel == "sm90_bf16_bf16_tn_128x256x64_2x1_s4") {
      EXPECT_EQ(p.clusters, 64);  // 16 waves of 64 clusters; 66 need 16 too
    }
}

TEST(Plan, SmallMTakesAGemv) {
  gemm_plan const one = plan_gemm(tn(1, 4100, 4096), aligned(), h200());
  ASSERT_TRUE(one.gemv) << one.kernel;
  EXPECT_EQ(one.kernel, "gemv_bf16_bf16_4x2_u4_1x4_c4");
  EXPECT_TRUE(one.swapped);
  EXPECT_EQ(one.clusters, 528);
  EXPECT_EQ(one.workspace_bytes, 0);
  EXPECT_NEAR(one.predicted_us, 9.7, 0.6);  // 9.9 as measured with 4096 (docs/decisions/0014)
  EXPECT_NE(one.why.find("1025 groups of 4 rows on 528 CTAs"), std::string::npos) << one.why;
  EXPECT_EQ(one.why.find("bands"), std::string::npos) << one.why;
  EXPECT_EQ(one.terms.waves, 2);
  EXPECT_NEAR(plan_gemm(tn(1, 28680, 4096), aligned(), h200()).predicted_us, 52.8, 2.5);
  EXPECT_NEAR(plan_gemm(tn(2, 5120, 8192), aligned(), h200()).predicted_us, 21.9, 2.2);
  for (int const rows : {2, 3, 8}) {
    EXPECT_TRUE(plan_gemm(tn(rows, 5120, 8192), aligned(), h200()).gemv) << rows;
    EXPECT_TRUE(plan_gemm(tn(rows, 2000, 4096), aligned(), h200()).gemv) << rows;
    gemm_plan const columns = plan_gemm(tn(5120, rows, 8192), aligned(), h200());
    EXPECT_TRUE(columns.gemv && !columns.swapped) << columns.kernel;
  }
  EXPECT_FALSE(plan_gemm(tn(9, 5120, 8192), aligned(), h200()).gemv);
}

TEST(Plan, ATurnOfAGemvCostsAsMuchWhereKIsShort) {
  // One of 4x1 covers 4096 elements of K: 14.5 us as measured, where 16x8 takes 9.9.
  gemm_plan const half = plan_gemm(tn(1, 8200, 2048), aligned(), h200());
  ASSERT_TRUE(half.gemv) << half.kernel;
  EXPECT_TRUE(half.gemv->by_mma()) << half.kernel;
}

TEST(Plan, AGemvTakesWhatItCanLoad) {
  auto const gemvs = [](gemm_problem const& p, gemm_operands const& o) {
    int n = 0;
    for (gemm_plan const& x : plan_candidates(p, o, h200())) n += x.gemv.has_value();
    return n;
  };
  gemm_problem const p = tn(2, 4096, 4096);
  EXPECT_EQ(gemvs(p, aligned()), 4);
  gemm_problem q = p;
  q.b = {elem::bf16, order::row_major, q.n};  // weights that are not K-major
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.a = {elem::bf16, order::col_major, q.m};
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.k = 4092;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.b.pitch_elems = 4100;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.epilogue.act = activation::relu;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.d.type = elem::f16;
  EXPECT_EQ(gemvs(q, aligned()), 0);
  q = p, q.d = {elem::f32, order::col_major, 3};  // no order or pitch of D matters
  EXPECT_EQ(gemvs(q, aligned()), 4);
  gemm_operands o = aligned();
  o.d = static_cast<char*>(o.d) + 2;
  EXPECT_EQ(gemvs(p, o), 4);
  o = aligned(), o.b = static_cast<char const*>(o.b) + 2;
  EXPECT_EQ(gemvs(p, o), 0);
  q = batch_of(tn(2, 512, 64), 3);
  EXPECT_EQ(gemvs(q, aligned()), 4);
  q.a.batch_stride_elems = q.b.batch_stride_elems = q.d.batch_stride_elems =
      matrix_desc::by_pointers;
  EXPECT_EQ(gemvs(q, aligned()), 0);
}

TEST(Plan, AGemvIsLaunchedWithTheAlignmentItWasPlannedFor) {
  std::vector<std::uint16_t> memory(8 * 64 + 8);
  auto* const begin =
      memory.data() + (16 - reinterpret_cast<std::uintptr_t>(memory.data()) % 16) / 2;
  gemm_operands o{begin, begin, nullptr, begin};
  std::vector<gemm_plan> const plans = plan_candidates(tn(1, 8, 64), o, 2);
  auto const first = std::find_if(plans.begin(), plans.end(),
                                  [](gemm_plan const& x) { return x.gemv && x.swapped; });
  ASSERT_NE(first, plans.end());
  gemm_plan plan = *first;
  o.b = begin + 1;
  try {
    gemm_emulated(plan, o);
    ADD_FAILURE() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0409");
    EXPECT_EQ(r.why().what, "address of B");
  }
  plan.gemv->unroll = 3;
  try {
    gemm_emulated(plan, {begin, begin, nullptr, begin});
    ADD_FAILURE() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0505");
  }
}

TEST(Plan, ABatchIsPlannedAsOneProductOfAllItsTiles) {
  gemm_plan const one = plan_gemm(tn(2048, 2048, 128), aligned(), h200());
  gemm_plan const many = plan_gemm(batch_of(tn(2048, 2048, 128), 32), aligned(), h200());
  EXPECT_TRUE(many.hints.empty());
  EXPECT_GT(many.predicted_us, 16 * (one.predicted_us - 2));  // 2 us to launch
  EXPECT_EQ(make_params(many, many.normal, aligned(), target::emu).walk.order.batch, 32);
  gemm_problem shared_b = batch_of(tn(64, 512, 8192), 32);
  shared_b.b.batch_stride_elems = 0;
  EXPECT_LT(plan_gemm(shared_b, aligned(), h200()).predicted_us,
            plan_gemm(batch_of(tn(64, 512, 8192), 32), aligned(), h200()).predicted_us);
  gemm_problem measured = tn(128, 128, 16384);
  ASSERT_TRUE(find_winner(measured, h200()));
  EXPECT_FALSE(find_winner(batch_of(measured, 2), h200()));
  gemm_problem scores = batch_of(tn(2048, 2048, 128), 32);
  ASSERT_TRUE(find_winner(scores, h200()));
  for (matrix_desc* m : {&scores.a, &scores.b, &scores.d})
    m->batch_stride_elems = matrix_desc::by_pointers;
  EXPECT_TRUE(find_winner(scores, h200()));
  scores.b.batch_stride_elems = 0;
  EXPECT_FALSE(find_winner(scores, h200()));
}

TEST(Plan, ABatchStrideThatTmaCannotAddressIsAnnounced) {
  gemm_problem p = batch_of(tn(64, 64, 64), 4);
  p.a.batch_stride_elems += 1;
  p.b.batch_stride_elems += 8;
  p.d.batch_stride_elems += 1;
  for (gemm_plan const& x : plan_candidates(p, aligned(), h200())) {
    EXPECT_EQ(x.repitch_a, !x.swapped);
    EXPECT_EQ(x.repitch_b, x.swapped);
    EXPECT_TRUE(x.direct_d);
    EXPECT_NE(x.hints[0].find("batch stride of 8194 bytes"), std::string::npos) << x.hints[0];
  }
}

TEST(Plan, TheOrderOfTilesIsTheModelsOrTheCallers) {
  gemm_plan plan = plan_gemm(tn(4096, 24576, 1536), aligned(), h200());
  EXPECT_NE(plan.why.find(order_names[static_cast<int>(plan.raster)]), std::string::npos);
  plan.raster = order_kind::hilbert;
  plan.band = 8;
  tile_order const asked = make_params(plan, plan.normal, aligned(), target::emu).walk.order;
  EXPECT_EQ(asked.kind, order_kind::hilbert);
  EXPECT_EQ(asked.band, 8);
  for (int const bad : {0, 12, 8192}) {
    plan.band = bad;
    try {
      make_params(plan, plan.normal, aligned(), target::emu);
      ADD_FAILURE() << "a band of " << bad << " was accepted";
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0424");
    }
  }
}

TEST(Plan, ColumnMajorDIsSwapAB) {
  gemm_problem p = tn(100, 200, 64);
  p.d = {elem::bf16, order::col_major, 104};
  for (gemm_plan const& x : plan_candidates(p, aligned(), h200())) {
    EXPECT_EQ(x.normal.d.ord, x.config.d_m ? order::col_major : order::row_major);
    EXPECT_EQ(x.swapped, !x.config.d_m);
    EXPECT_EQ(x.normal.m, x.swapped ? 200 : 100);
    EXPECT_EQ(x.normal.a.ord, order::row_major);  // A, or B col-major, transposed
  }
}

TEST(Plan, SlowerPathsAreAnnounced) {
  gemm_problem p = tn(64, 33, 31);
  gemm_plan const plan = plan_gemm(p, aligned(), h200());
  EXPECT_TRUE(plan.repitch_a && plan.repitch_b && plan.direct_d);
  ASSERT_EQ(plan.hints.size(), 3U);
  EXPECT_NE(plan.hints[0].find("62 bytes"), std::string::npos) << plan.hints[0];
  EXPECT_EQ(plan.hints[0].find(plan.swapped ? "B: " : "A: "), 0U) << plan.hints[0];
  gemm_problem const vector = tn(1, 40, 31);  // one row: its pitch does not matter
  gemm_plan const one_row = plan_gemm(vector, aligned(), h200());
  EXPECT_FALSE(one_row.swapped ? one_row.repitch_b : one_row.repitch_a);
}

TEST(Plan, EveryPlanIsCompiledIn) {
  for (elem ab : {elem::bf16, elem::f16})
    for (elem d : {elem::bf16, elem::f16, elem::f32})
      for (order oa : {order::row_major, order::col_major})
        for (order ob : {order::row_major, order::col_major})
          for (order od : {order::row_major, order::col_major})
            for (int size : {1, 100, 1000, 10000}) {
              gemm_problem p;
              p.m = p.n = p.k = size;
              p.a = {ab, oa, size};
              p.b = {ab, ob, size};
              p.d = {d, od, size};
              gemm_plan const plan = plan_gemm(p, aligned(), h200());
              EXPECT_TRUE(plan.built) << plan.kernel;
            }
}

TEST(Plan, ARowThatEndsInsideAChunkKeepsItsLastBoxFromTma) {
  gemm_problem p = tn(64, 200, 64);
  gemm_plan plan = plan_gemm(p, aligned(), h200());
  EXPECT_GT(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_end, 256);
  p.n = 201;
  p.d.pitch_elems = 208;
  plan = plan_gemm(p, aligned(), h200());
  EXPECT_FALSE(plan.direct_d);
  EXPECT_EQ(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_end, 192);
}

}  // namespace
}  // namespace tw::test
