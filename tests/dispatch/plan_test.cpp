// SPDX-License-Identifier: Apache-2.0
// plan_test.cpp  Plans, their reasons and needs; every plan is compiled in.
#include "family/sm90_gemm/params.hpp"

#include <gtest/gtest.h>

#include "dispatch/tuning/winners.hpp"
#include "family/sm90_gemm/computes.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/schedules.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::test {
namespace {

TEST(Plan, AFusedEpilogueHasItsOwnKernels) {
  auto const facts_of = [](gemm_plan const& x) { return x.family->facts(x.instance); };
  gemm_problem p = tn(4096, 4096, 4096);
  p.epilogue.act = activation::silu;
  for (gemm_plan const& plan : plan_candidates(p, aligned(), h200()))
    EXPECT_TRUE(facts_of(plan).epilogue.ops && !facts_of(plan).epilogue.gate) << plan.kernel;
  p.epilogue.gate = gating::split;
  for (gemm_plan const& plan : plan_candidates(p, aligned(), h200())) {
    EXPECT_TRUE(facts_of(plan).epilogue.gate) << plan.kernel;
    EXPECT_FALSE(plan.swapped);
  }
  p = tn(64, 64, 64);
  p.epilogue.act = activation::relu;
  p.d.type = elem::f16;
  p.aux = p.d;
  try {
    best_plan(p, aligned(), h200());
    FAIL() << "an f16 result of bf16 operands with an auxiliary output has no kernel";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0414");
  }
}

TEST(Plan, ADeviceHasAnSm) {
  for (int const sms : {0, -1}) {
    try {
      plan_gemm(tn(64, 64, 64), aligned(), h200(sms));
      FAIL() << sms;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0429");
      EXPECT_EQ(r.why().got, std::to_string(sms));
    }
  }
}

TEST(Plan, KernelsFitInTheSharedMemoryOfACta) {
  gemm_problem const p = tn(4096, 4096, 4096);
  device small = h200();
  std::size_t const all = plan_candidates(p, aligned(), small, kernel_set::all).size();
  small.max_smem_bytes_per_cta = 100 << 10;
  auto const plans = plan_candidates(p, aligned(), small, kernel_set::all);
  EXPECT_LT(plans.size(), all);
  for (gemm_plan const& plan : plans) {
    auto const r = plan.family->resources(plan.instance);
    if (r) {
      EXPECT_LE(r->cta.smem_bytes, 100 << 10) << plan.kernel;
    }
  }
  small.max_smem_bytes_per_cta = 1 << 10;
  try {
    plan_candidates(p, aligned(), small, kernel_set::all);
    FAIL() << "no kernel fits in 1 KiB";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0464");
  }
}

TEST(Plan, SwapABExchangesTheVectorsOfRowsAndColumns) {
  gemm_problem p = tn(4, 4096, 4096);
  p.epilogue.bias = along::cols;
  p.epilogue.row_scale = along::rows;
  gemm_plan const plan = best_plan(p, aligned(), h200());
  ASSERT_TRUE(plan.swapped) << plan.why;
  EXPECT_EQ(plan.normal.epilogue.bias, along::rows);
  EXPECT_FALSE(plan.normal.epilogue.row_scale);
  EXPECT_TRUE(plan.normal.epilogue.col_scale);
}

TEST(Plan, TheLargestProblemHasAPlan) {
  for (elem const d : {elem::bf16, elem::f16, elem::f32}) {
    gemm_problem p = tn(std::int64_t{1} << 21, std::int64_t{1} << 21, 8);
    p.d.type = d;
    EXPECT_GT(best_plan(p, aligned(), h200()).schedule.clusters, 0);
  }
}

TEST(Plan, EveryAcceptedProblemHasAPlanOnAnyNumberOfSMs) {
  for (int const sms : {1, 2, 3, 7, 64, 131, 132, 200})
    for (int const size : {1, 8, 127, 4096}) {
      gemm_operands o = aligned();
      o.workspace = o.d;
      o.workspace_bytes = -1;
      EXPECT_FALSE(plan_candidates(tn(size, 4096 / size, 64), o, h200(sms)).empty());
      o.workspace_bytes = std::int64_t{64} << 20;
      for (gemm_plan const& p : plan_candidates(tn(size, 4096 / size, 64 * size), o, h200(sms))) {
        EXPECT_GE(p.schedule.clusters, 1);
        EXPECT_LE(p.schedule.split_k_clusters, p.schedule.clusters);
        EXPECT_TRUE(p.built) << p.kernel;
      }
    }
}

TEST(Plan, AKernelThatIsNotCompiledInIsRefused) {
  std::vector<std::uint16_t> memory(64 * 64);
  gemm_operands const o{memory.data(), memory.data(), nullptr, memory.data()};
  gemm_plan plan = plan_gemm(tn(16, 16, 16), o, h200(2));
  plan.instance = plan.family->kernel_count();
  try {
    gemm_emulated(plan, o);
    FAIL() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0505");
  }
}

TEST(Plan, LargeProblemsTakeTheLargeTile) {
  std::vector<gemm_plan> const plans = plan_candidates(tn(8192, 8192, 8192), aligned(), h200());
  gemm_config const& c = config_of(plans[0]);
  EXPECT_GE(c.tile_m * c.tile_n, 128 * 192) << plans[0].why;
  EXPECT_TRUE(plans[0].hints.empty());
  for (gemm_plan const& p : plans) {
    if (!is_sm90_gemm(p)) continue;
    gemm_config const& x = config_of(p);
    if (x.cluster() == 2 && x.tile_m * x.tile_n == 128 * 256) {
      EXPECT_EQ(p.schedule.clusters, 64) << p.kernel;  // 16 waves of 64 clusters; 66 need 16 too
    }
  }
}

TEST(Plan, ABatchIsPlannedAsOneProductOfAllItsTiles) {
  gemm_plan const one = best_plan(tn(2048, 2048, 128), aligned(), h200());
  gemm_plan const many = best_plan(batch_of(tn(2048, 2048, 128), 32), aligned(), h200());
  EXPECT_TRUE(many.hints.empty());
  EXPECT_GT(many.predicted_us, 16 * (one.predicted_us - 2));  // 2 us to launch
  EXPECT_EQ(make_params(many, many.normal, aligned(), target::emu).walk.order.batch, 32);
  gemm_problem shared_b = batch_of(tn(64, 512, 8192), 32);
  shared_b.b.batch_stride_elems = 0;
  EXPECT_LT(best_plan(shared_b, aligned(), h200()).predicted_us,
            best_plan(batch_of(tn(64, 512, 8192), 32), aligned(), h200()).predicted_us);
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

TEST(Plan, TheOrderOfTilesIsTheModelsOrTheCallers) {
  gemm_plan plan = best_plan(tn(4096, 24576, 1536), aligned(), h200());
  EXPECT_NE(plan.why.find(order_names[static_cast<int>(plan.schedule.raster)]), std::string::npos);
  plan.schedule.raster = order_kind::hilbert;
  plan.schedule.band = 8;
  tile_order const asked = make_params(plan, plan.normal, aligned(), target::emu).walk.order;
  EXPECT_EQ(asked.kind, order_kind::hilbert);
  EXPECT_EQ(asked.band, 8);
  for (int const bad : {0, 12, 8192}) {
    plan.schedule.band = bad;
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
    bool const d_m = is_sm90_gemm(x) && config_of(x).d_m;
    EXPECT_EQ(x.normal.d.ord, d_m ? order::col_major : order::row_major);
    EXPECT_EQ(x.swapped, !d_m);
    EXPECT_EQ(x.normal.m, x.swapped ? 200 : 100);
    EXPECT_EQ(x.normal.a.ord, order::row_major);  // A, or B col-major, transposed
  }
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
              EXPECT_TRUE(plan_gemm(p, aligned(), h200()).built);
            }
}

TEST(Plan, ARowThatEndsInsideAChunkKeepsItsLastBoxFromTma) {
  gemm_problem p = tn(64, 200, 64);
  gemm_plan plan = best_plan(p, aligned(), h200());
  EXPECT_GT(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_end, 256);
  p.n = 201;
  p.d.pitch_elems = 208;
  plan = best_plan(p, aligned(), h200());
  EXPECT_FALSE(plan.direct_d);
  EXPECT_EQ(make_params(plan, plan.normal, aligned(), target::emu).epilogue.tma_end, 192);
}

/// Bytes of counters of a launch, from the parameters that the kernel gets: one counter of 32 bits
/// for each warpgroup of a cluster, `counters` of them for each split-K tile
/// (kernel/sm90/fixup.hpp).
std::int64_t counter_bytes_of(gemm_plan const& x) {
  gemm_operands const o = with_workspace();
  std::int64_t const counters = make_params(x, x.normal, o, target::emu).fixup.counters;
  return 4 * counters * config_of(x).writers() * x.schedule.split_k_tiles;
}

TEST(Plan, CountersOfSplitKTilesFitTheirPartOfTheWorkspace) {
  std::int64_t largest = 0;
  bool left_out = false;  // because its counters do not fit
  for (std::int64_t n = 100'000; n <= 6'400'000; n *= 2)
    for (std::int64_t const m : {16, 64, 128}) {
      gemm_problem const p = tn(m, n, 512);
      for (gemm_plan const& x : plan_candidates(p, with_workspace(), h200(), kernel_set::all)) {
        if (!is_sm90_gemm(x) || x.schedule.split_k_tiles == 0) continue;
        EXPECT_LE(counter_bytes_of(x), gemm_workspace_zeros) << p.n << " " << x.kernel;
        largest = std::max(largest, counter_bytes_of(x));
      }
      for (auto const& i : sm90_gemm_family::instances()) {
        if (!i.config.shares_tiles() || !computes(i.config, p)) continue;
        for (tile_split const& s : tile_splits(p, i.config, h200()))
          left_out |= s.split_k_tiles > 0 && counter_bytes(p, i.config, s) > gemm_workspace_zeros;
      }
    }
  EXPECT_GT(largest, gemm_workspace_zeros / 4);  // else a lost factor of 4 would not be seen
  EXPECT_TRUE(left_out);
}

TEST(Plan, AnEditedPlanWithTooManyCountersIsRefused) {
  for (gemm_plan plan :
       plan_candidates(tn(64, 20'000'000, 512), with_workspace(), h200(), kernel_set::all)) {
    if (!is_sm90_gemm(plan) || !config_of(plan).shares_tiles()) continue;
    plan.schedule.split_k_tiles = plan.schedule.split_k_clusters = 1 << 17;
    try {
      make_params(plan, plan.normal, with_workspace(), target::emu);
      ADD_FAILURE() << plan.kernel;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0436");
    }
    return;
  }
  ADD_FAILURE() << "no plan shares tiles";
}

/// The leading dimension of a single line is not used, and TMA accepts multiples of 16 bytes alone.
TEST(Plan, AMatrixOfOneLineHasAStrideThatTmaAccepts) {
  gemm_problem p = tn(1, 64, 31);
  p.b.pitch_elems = 32;
  for (gemm_plan const& x : plan_candidates(p, aligned(), h200(), kernel_set::all)) {
    if (!is_sm90_gemm(x) || x.swapped) continue;
    EXPECT_FALSE(x.repitch.a);
    tensor_map const a = make_params(x, x.normal, aligned(), target::emu).a;
    EXPECT_EQ(unpack_tensor_map_emu(a).stride_bytes[0] % 16, 0) << x.kernel;
  }
}

/// Sums in f16 are taken where they are predicted to gain, and never before a plan that was
/// measured.
TEST(Plan, SumsInF16AreTakenWhereTheyGain) {
  auto const in_f16 = [](gemm_plan const& x) {
    return x.family->facts(x.instance).precision.f16_sums;
  };
  int taken = 0, left = 0;
  for (std::int64_t const m : {16, 64, 200, 512, 1000, 4096, 8192})
    for (std::int64_t const n : {256, 2048, 5000, 28672})
      for (std::int64_t const k : {64, 512, 4096}) {
        gemm_problem p = tn(m, n, k, elem::f16);
        p.a.type = p.b.type = elem::f16;
        p.precision.f16_sums = true;
        auto const plans = plan_candidates(p, with_workspace(), h200(), kernel_set::all);
        gemm_plan const& first = plans.front();
        if (!in_f16(first)) {
          ++left;
          continue;
        }
        ++taken;
        EXPECT_EQ(first.source, plan_source::model);
        for (gemm_plan const& x : plans) {
          EXPECT_EQ(x.source, plan_source::model) << x.kernel << " was measured";
          if (in_f16(x)) continue;
          EXPECT_LE(first.predicted_us, 0.99 * x.predicted_us + 1e-9)
              << m << "x" << n << "x" << k << ": " << first.kernel << " before " << x.kernel;
        }
      }
  EXPECT_GT(left, 0);
  RecordProperty("taken", taken);
}

}  // namespace
}  // namespace tw::test
