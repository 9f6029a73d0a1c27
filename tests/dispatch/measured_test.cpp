// SPDX-License-Identifier: Apache-2.0
// measured_test.cpp  Plans that were measured, and copies that pay.
#include <gtest/gtest.h>

#include <algorithm>

#include "dispatch/tuning/winners.hpp"
#include "family/as_run.hpp"
#include "family/normal_form.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "tests/dispatch/problems.hpp"
#include "tests/effort.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

TEST(Measured, MeasuredPlansComeFirst) {
  gemm_operands o = aligned();
  o.workspace = o.d;
  o.workspace_bytes = std::int64_t{64} << 20;
  gemm_problem const p = tn(128, 128, 16384);
  auto const measured = find_winner(p, h200());
  ASSERT_TRUE(measured);
  gemm_plan const plan = best_plan(p, o, h200());
  EXPECT_EQ(plan.kernel, measured->kernel);
  EXPECT_EQ(plan.schedule.split_k_tiles, measured->split_k_tiles);
  EXPECT_NE(plan.why.find("measured"), std::string::npos) << plan.why;
  EXPECT_FALSE(find_winner(tn(129, 128, 16384), h200()));
  EXPECT_FALSE(find_winner(p, with_sm_count(h200(), 114)));  // another GPU
  gemm_problem padded = p;
  padded.a.pitch_elems += 8;
  EXPECT_FALSE(find_winner(padded, h200()));
}

/// The product of a row.
gemm_problem problem_of(winner const& w) {
  bool const row_a = w.layout[0] == 'T', col_b = w.layout[1] == 'N';
  gemm_problem p;
  p.m = w.m, p.n = w.n, p.k = w.k;
  p.a = {w.ab, row_a ? order::row_major : order::col_major, row_a ? w.k : w.m};
  p.b = {w.ab, col_b ? order::col_major : order::row_major, col_b ? w.k : w.n};
  p.d = {w.d, order::row_major, w.n};
  p.precision.promote_k = w.promote_k;
  if (w.scales.a) p.scale_a = make_scale({false, p.m, p.k}, *w.scales.a);
  if (w.scales.b) p.scale_b = make_scale({true, p.n, p.k}, *w.scales.b);
  return w.batch > 1 ? batch_of(p, w.batch) : p;
}

TEST(Measured, TheRuleForEarlyStartsAgreesWithNineOfTenRows) {
  int rows[2] = {}, agree[2] = {};  // [1]: kernels with block scales
  for (winner const& w : winners("h200")) {
    if (!w.starts_early || w.batch > 1) continue;
    bool const blocks = w.scales.a == scaling::block_1x128;
    gemm_problem p = problem_of(w);
    std::string const kernel = best_plan(p, with_workspace(), h200()).kernel;
    p.d.pitch_elems += 64;  // a GEMM that was not measured
    auto const plans = plan_candidates(p, with_workspace(), h200(), kernel_set::all);
    auto const same = std::ranges::find_if(plans, [&](gemm_plan const& x) {
      return x.kernel == kernel && x.schedule.split_k_tiles == w.split_k_tiles &&
             x.schedule.split_k_clusters == w.split_k_clusters;
    });
    if (same == plans.end()) continue;  // D's own odd pitch
    EXPECT_FALSE(same->early_measured);
    ++rows[blocks];
    agree[blocks] += same->starts_early == *w.starts_early;
  }
  EXPECT_GT(rows[0], 400);
  EXPECT_GT(rows[1], 70);
  for (int i : {0, 1}) EXPECT_GE(agree[i], rows[i] * 9 / 10) << "of " << rows[i];
}

/// Measured are GEMMs whose operands and results lie at multiples of 16 bytes.
TEST(Measured, AnOperandOrAResultElsewhereIsAnotherProblem) {
  gemm_problem const p = tn(256, 512, 16384);
  gemm_operands const o = with_workspace();
  ASSERT_EQ(best_plan(p, o, h200()).source, plan_source::table_of_winners);
  auto const moved = [](auto* x, std::uintptr_t by) {
    return reinterpret_cast<decltype(x)>(reinterpret_cast<std::uintptr_t>(x) + by);
  };
  for (std::uintptr_t const by : {2, 4, 8, 14, 16, 32, 24}) {
    gemm_operands a = o, b = o, d = o;
    a.a = moved(a.a, by), b.b = moved(b.b, by), d.d = moved(d.d, by);
    for (gemm_operands const& x : {a, b, d})
      for (gemm_plan const& plan : plan_candidates(p, x, h200(), kernel_set::all)) {
        if (by % 16 == 0) {
          EXPECT_EQ(plan.source, plan_source::table_of_winners) << by;
          break;
        }
        EXPECT_EQ(plan.source, plan_source::model) << by << " " << plan.kernel;
        EXPECT_EQ(plan.measured_us, 0) << by << " " << plan.kernel;
      }
  }
}

TEST(Measured, F16RunsWhatWasMeasuredWithBf16) {
  gemm_problem p = tn(256, 512, 16384);
  gemm_plan const bf16 = best_plan(p, with_workspace(), h200());
  ASSERT_EQ(bf16.source, plan_source::table_of_winners);
  p.a.type = p.b.type = p.d.type = elem::f16;
  gemm_plan const f16 = best_plan(p, with_workspace(), h200());
  EXPECT_EQ(f16.source, plan_source::table_of_winners);
  EXPECT_EQ(launched(f16).tile_n, launched(bf16).tile_n);
  EXPECT_EQ(f16.schedule.split_k_clusters, bf16.schedule.split_k_clusters);
  EXPECT_EQ(config_of(f16).a.multiplied, elem::f16);
  EXPECT_TRUE(f16.why.ends_with("on NVIDIA H200, in bf16")) << f16.why;
  EXPECT_TRUE(bf16.why.ends_with("on NVIDIA H200")) << bf16.why;
}

TEST(Measured, AColumnMajorResultRunsAsSwapAB) {
  gemm_problem const p = tn(128, 2112, 7168);
  gemm_plan const rows = best_plan(p, with_workspace(), h200());
  gemm_plan const cols = best_plan(transposed(p), with_workspace(), h200());
  ASSERT_EQ(rows.source, plan_source::table_of_winners);
  EXPECT_EQ(cols.source, plan_source::table_of_winners);
  EXPECT_EQ(cols.kernel, rows.kernel);
  EXPECT_NE(cols.swapped, rows.swapped);
}

/// A scale in the epilogue, where as_run() moves it, is the one that the problem states.
TEST(Measured, ScalesAreStatedOnceInTables) {
  gemm_problem plain = tn(256, 512, 2048);
  plain.a.type = plain.b.type = elem::e4m3;
  for (auto const a : {scaling::tensor, scaling::row, scaling::block_1x128})
    for (auto const b : {scaling::tensor, scaling::row, scaling::block_128x128}) {
      gemm_problem p = plain;
      p.scale_a = make_scale({false, p.m, p.k}, a), p.scale_b = make_scale({true, p.n, p.k}, b);
      gemm_problem const run = as_run(p).problem;
      for (gemm_problem const& x : {p, run}) {
        EXPECT_TRUE(fits_tables(x));
        EXPECT_EQ(scaling_in_tables(x, role::a), a);
        EXPECT_EQ(scaling_in_tables(x, role::b), b);
      }
      EXPECT_EQ(scaling_in_tables(transposed(p), role::b), a);
    }
  EXPECT_FALSE(scaling_in_tables(plain, role::a));
  gemm_problem p = plain;
  p.scale_a = make_scale({false, p.m, p.k}, scaling::row);
  EXPECT_FALSE(fits_tables(p));  // one scale alone
  p = plain;
  p.precision.promote_k = 0;
  EXPECT_TRUE(fits_tables(p));
  p.precision.promote_k = 256;
  EXPECT_FALSE(fits_tables(p));
}

TEST(Measured, ABatchIsASeparateProblem) {
  gemm_problem p = batch_of(tn(2048, 2048, 128), 32);
  ASSERT_TRUE(find_winner(p, h200()));
  EXPECT_EQ(find_winner(p, h200())->batch, 32);
  p.batch = 31;
  EXPECT_FALSE(find_winner(p, h200()));
  p.batch = 32, p.a.batch_stride_elems += 8;  // with gaps
  EXPECT_FALSE(find_winner(p, h200()));
}

TEST(Measured, PitchesThatSplitSectorsAreSaid) {
  gemm_plan const plan =
      best_plan(tn(4096, 4096, 4104), aligned(), h200());  // pitches of 8208 bytes
  ASSERT_EQ(plan.hints.size(), 2U);
  EXPECT_NE(plan.hints[0].find("loads take twice the time"), std::string::npos) << plan.hints[0];
  EXPECT_FALSE(plan.repitch.a || plan.repitch.b);  // TMA can address them
  EXPECT_TRUE(
      best_plan(tn(4096, 4096, 4112), aligned(), h200()).hints.empty());  // 8224: whole sectors
}

/// A measurement takes precedence over the heuristic; of the same plan for a GEMM that
/// was not measured the rule says it.
TEST(Measured, AnEarlyStartIsTheMeasuredOneElseTheRules) {
  int otherwise[2] = {};  // rows that start late or early against the rule
  for (winner const& w : winners("h200")) {
    if (!w.starts_early || w.batch > 1 || otherwise[*w.starts_early] == 2) continue;
    gemm_problem p = problem_of(w);
    gemm_plan const measured = best_plan(p, with_workspace(), h200());
    EXPECT_EQ(measured.starts_early, *w.starts_early);
    EXPECT_TRUE(measured.early_measured);
    p.d.pitch_elems += 8;  // was not measured
    for (gemm_plan const& x : plan_candidates(p, with_workspace(), h200(), kernel_set::all)) {
      EXPECT_FALSE(x.early_measured);
      bool const same = x.kernel == measured.kernel &&
                        x.schedule.split_k_tiles == measured.schedule.split_k_tiles &&
                        x.schedule.split_k_clusters == measured.schedule.split_k_clusters;
      if (same && x.starts_early != measured.starts_early) ++otherwise[*w.starts_early];
    }
  }
  EXPECT_EQ(otherwise[0], 2);
  EXPECT_EQ(otherwise[1], 2);
  EXPECT_TRUE(best_plan(tn(2048, 2048, 512), with_workspace(), h200()).starts_early);
}

/// Of a sample, every 7th row.
TEST(Measured, EveryMeasuredPlanIsStillOffered) {
  gemm_operands o = aligned();
  o.workspace = o.d;
  o.workspace_bytes = std::int64_t{256} << 20;  // split-K tiles, copies of unaligned operands
  int const rows[] = {2000, 150};
  for (int i = 0; char const* const id : {"h200", "h100_sxm"}) {
    std::vector<winner> const all = winners(id);
    EXPECT_GT(all.size(), static_cast<std::size_t>(rows[i++])) << id;
    for (std::size_t row = 0; row < all.size(); row += full_effort() ? 1 : 7) {
      winner const& w = all[row];
      gemm_plan const plan = best_plan(problem_of(w), o, known_device(id));
      EXPECT_EQ(plan.source, plan_source::table_of_winners)
          << id << " " << w.m << "x" << w.n << "x" << w.k << "x" << w.batch << " " << w.layout
          << ": " << plan.kernel;
      EXPECT_EQ(plan.measured_on, known_device(id).name);
      EXPECT_EQ(plan.measured_us, w.us);
      EXPECT_EQ(plan.early_measured, w.starts_early.has_value()) << plan.kernel;
      EXPECT_EQ(plan.starts_early, w.starts_early.value_or(plan.starts_early)) << plan.kernel;
    }
  }
}

/// An H100 SXM takes the rows of an H200 if it has none, and no time of them.
TEST(Measured, AnotherDevicesRowsAreTakenByNameAndWithoutTheirTime) {
  device const& h100 = known_device("h100_sxm");
  int own = 0, other = 0;
  for (winner const& w : winners("h200")) {
    if (w.m * w.n * w.k % 7 != 0) continue;  // some of them
    gemm_problem const p = problem_of(w);
    auto const found = find_winner(p, h100);
    ASSERT_TRUE(found);
    gemm_plan const plan = best_plan(p, with_workspace(std::int64_t{256} << 20), h100);
    ASSERT_EQ(plan.source, plan_source::table_of_winners);
    EXPECT_EQ(plan.measured_on, found->of_this_device ? h100.name : h200().name);
    EXPECT_EQ(plan.measured_us, found->of_this_device ? found->us : 0);
    EXPECT_NE(plan.why.find("fastest on " + plan.measured_on), std::string::npos) << plan.why;
    ++(found->of_this_device ? own : other);
  }
  EXPECT_GT(own, 0);
  EXPECT_GT(other, 100);
  EXPECT_FALSE(find_winner(tn(128, 128, 16384), known_device("h100_pcie")));
}

}  // namespace
}  // namespace tw::test
