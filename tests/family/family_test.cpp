// SPDX-License-Identifier: Apache-2.0
// family_test.cpp  Laws of kernel families: names, facts, plans, and what a build has of them.
#include "tilewright/family/family.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "family/as_run.hpp"
#include "family/bind.hpp"
#include "family/gemv/instances.hpp"
#include "family/sm100_gemm/instances.hpp"
#include "family/sm100_scaled/instances.hpp"
#include "family/sm80_gemm/instances.hpp"
#include "family/sm90_gemm/instances.hpp"
#include "family/workspace.hpp"
#include "src/base/log.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/pipeline/stage_profile.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

TEST(Family, NamesTellKernelsApart) {
  std::set<std::string> names, ids;
  for (gemm_family const* f : families()) {
    EXPECT_TRUE(ids.insert(std::string(f->id())).second) << f->id();
    EXPECT_EQ(find_family(f->id()), f);
    ASSERT_GT(f->kernel_count(), 0);
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel)
      EXPECT_TRUE(names.insert(f->name(kernel)).second) << f->name(kernel);
  }
  EXPECT_EQ(find_family("no such family"), nullptr);
}

TEST(Family, AKernelIsFoundByItsConfiguration) {
  for (int i = 0; i < static_cast<int>(sm90_gemm_family::instances().size()); ++i)
    EXPECT_EQ(sm90_gemm_family::index_of(sm90_gemm_family::instances()[i].config), i);
  for (int i = 0; i < static_cast<int>(gemv_family::instances().size()); ++i)
    EXPECT_EQ(gemv_family::index_of(gemv_family::instances()[i].config), i);
  for (int i = 0; i < static_cast<int>(sm80_gemm_family::instances().size()); ++i)
    EXPECT_EQ(sm80_gemm_family::index_of(sm80_gemm_family::instances()[i].config), i);
  for (int i = 0; i < static_cast<int>(sm100_gemm_family::instances().size()); ++i)
    EXPECT_EQ(sm100_gemm_family::index_of(sm100_gemm_family::instances()[i].config), i);
  for (int i = 0; i < static_cast<int>(sm100_scaled_family::instances().size()); ++i)
    EXPECT_EQ(sm100_scaled_family::index_of(sm100_scaled_family::instances()[i].config), i);
}

/// A GEMM as the facts describe it, in the form as run.
gemm_problem problem_of(kernel_facts const& f, std::mt19937& rng) {
  auto const any = [&](value_range r) {
    return r.lo +
           r.step * static_cast<int>(rng() % static_cast<unsigned>((r.hi - r.lo) / r.step + 1));
  };
  gemm_problem p;
  p.m = any(f.m), p.n = any(f.n), p.k = any(f.k);
  // Scales of a single block of K are part of the epilogue, and other kernels are planned.
  if (f.scaled && p.k <= 128) p.k += 128;
  using enum order;
  bool const a_k = f.a == operand_major::k, b_k = f.b == operand_major::k;
  p.a = {f.ab, a_k ? row_major : col_major, a_k ? p.k : p.m};
  p.b = {f.b_type.value_or(f.ab), b_k ? col_major : row_major, b_k ? p.k : p.n};
  // Lines of whole 16 bytes, which need no copy.
  for (matrix_desc* m : {&p.a, &p.b})
    m->pitch_elems = (m->pitch_elems + f.ld_step - 1) / f.ld_step * f.ld_step;
  p.precision = f.precision;
  p.weights_a = f.weights;
  if (p.weights_a) p.a.pitch_elems = p.k;
  if (f.scaled) {
    p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128);
    p.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128);
    if (f.groups == group_axis::n) {  // a scale for each of the columns
      p.scale_a = make_scale({false, p.m, p.k}, scaling::block_128x128);
      p.scale_b = make_scale({true, p.n, p.k}, scaling::block_1x128);
    }
  }
  if (f.block_scaled) {
    p.scale_a = make_block_scale({false, p.m, p.k}, *f.block_scaled);
    p.scale_b = make_block_scale({true, p.n, p.k}, *f.block_scaled, factor_order::linear);
  }
  order const d = f.d_order.value_or(row_major);
  std::int64_t const d_cols = f.epilogue.gate ? p.n / 2 : p.n;
  p.d = {f.d, d, d == row_major ? d_cols : p.m};
  if (f.groups != group_axis::none) {
    p.groups = group_desc{.axis = f.groups, .count = 3};
    if (f.groups == group_axis::k) p.d.batch_stride_elems = p.m * p.d.pitch_elems;
    if (f.groups == group_axis::k && f.scaled) {  // each group begins a block of scales
      constexpr std::int64_t block = 128;
      p.groups->scale_blocks = (p.k + block - 1) / block + p.groups->count;
      p.scale_a = make_scale({false, p.m, block * p.groups->scale_blocks}, scaling::block_1x128);
      p.scale_b = make_scale({true, p.n, block * p.groups->scale_blocks}, scaling::block_1x128);
    }
  }
  if (f.epilogue.ops) p.epilogue.act = activation::relu;
  if (f.epilogue.gate) p.epilogue.gate = gating::split;
  if (f.epilogue.gate && p.weights_a) p.weights_a.gate = gating::split;
  if (f.epilogue.scales && f.block_scaled)
    p.scale_d = make_block_result(*f.block_scaled, p.m, d_cols);
  else if (f.epilogue.scales && d == row_major)
    p.scale_d = output_scales{make_scale({false, p.m, d_cols}, scaling::block_1x128), false, false};
  if (f.epilogue.scales && d != row_major)  // computed ones belong to columns of this D
    p.scale_d = output_scales{{}, true, false};
  if (f.epilogue.aux) p.aux = matrix_desc{f.d, d, d == row_major ? p.n : p.m};
  return p;
}

/// The facts of a kernel describe GEMMs that it computes and is planned for.
TEST(Family, EveryKernelIsPlannedForWhatItsFactsDescribe) {
  std::mt19937 rng(20261125);
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) {
      kernel_facts const facts = f->facts(kernel);
      int planned = 0;
      for (int i = 0; i < 3; ++i) {
        // A gate pairs rows of weights: columns of the GEMM that is requested.
        bool const pairs_rows = facts.weights && facts.epilogue.gate;
        gemm_problem const run = problem_of(facts, rng);
        gemm_problem const p = pairs_rows ? transposed(run_form{run}).problem : run;
        ASSERT_FALSE(accept(p)) << f->name(kernel) << ": " << accept(p)->what;
        EXPECT_TRUE(f->computes(run)) << f->name(kernel);
        device const dev =
            with_sm_count(known_device(facts.device), facts.device_sms > 0 ? facts.device_sms : 4);
        auto const plans = plan_candidates(p, with_workspace(), dev, kernel_set::all);
        for (gemm_plan const& x : plans)
          EXPECT_EQ(x.workspace_bytes, workspace_of(x).bytes) << x.kernel;
        planned += std::ranges::any_of(plans, [&](gemm_plan const& x) {
          return x.family == f && x.instance == kernel && x.swapped == pairs_rows && !x.stage_d;
        });
      }
      EXPECT_GT(planned, 0) << f->name(kernel);
    }
}

/// A GEMM of one column with weights as A has a kernel: a D of one column is row-major and
/// column-major at once.
TEST(Family, WeightsMultiplyOneColumn) {
  std::mt19937 rng(20261130);
  int kernels = 0;
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) {
      kernel_facts const facts = f->facts(kernel);
      if (!facts.weights || facts.epilogue.gate) continue;
      gemm_problem p = problem_of(facts, rng);
      p.n = 1;
      auto const plans =
          plan_candidates(p, with_workspace(), known_device(facts.device), kernel_set::all);
      EXPECT_FALSE(plans.front().swapped) << f->name(kernel);
      ++kernels;
    }
  EXPECT_GT(kernels, 0);
}

/// Kernels with a float32 D serve GEMMs whose D a second launch quantises, too. The workspace that
/// their plans state has room for that D.
TEST(Family, APlanOfTwoLaunchesStatesItsWorkspace) {
  std::mt19937 rng(20261128);
  std::set<gemm_family const*> with_float32, staged;
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) {
      kernel_facts const facts = f->facts(kernel);
      if (facts.d != elem::f32 || facts.epilogue.aux || facts.epilogue.scales ||
          facts.d_order == order::col_major || facts.groups != group_axis::none)
        continue;
      with_float32.insert(f);
      gemm_problem p = problem_of(facts, rng);
      std::int64_t const d_cols = result_cols(p.epilogue, p.n);
      p.d = {elem::e4m3, order::row_major, d_cols};
      p.scale_d = output_scales{make_scale({false, p.m, d_cols}, scaling::row)};
      device const dev =
          with_sm_count(known_device(facts.device), facts.device_sms > 0 ? facts.device_sms : 4);
      for (gemm_plan const& x : plan_candidates(p, with_workspace(), dev, kernel_set::all)) {
        EXPECT_EQ(x.workspace_bytes, workspace_of(x).bytes) << x.kernel;
        if (!x.stage_d) continue;
        EXPECT_GE(x.workspace_bytes, gemm_workspace_zeros + 4 * p.m * d_cols) << x.kernel;
        staged.insert(x.family);
      }
    }
  EXPECT_EQ(staged, with_float32);
}

TEST(Family, APlanCarriesTheNameAndTheTimeThatItsFamilyGives) {
  for (gemm_problem const& p : {tn(1000, 700, 3000), tn(4, 700, 3000), tn(64, 512, 8192)})
    for (gemm_plan const& x : plan_candidates(p, with_workspace(), h200(), kernel_set::all)) {
      EXPECT_EQ(x.kernel, x.family->name(x.instance, x.schedule));
      EXPECT_EQ(x.predicted_us, x.family->predicted_us(x, h200()));
      EXPECT_EQ(x.built, x.family->built(x.instance));
      EXPECT_GT(x.family->tiles(x).ctas, 0);
      EXPECT_FALSE(x.family->schedule_text(x).empty());
    }
}

TEST(Family, KernelsWithARecordHaveRolesAndATile) {
  std::set<std::string_view> recorded;
  for (gemm_family const* f : families())
    for (profiled_kernel const& k : f->profiled()) {
      recorded.insert(f->id());
      ASSERT_GE(k.kernel, 0);
      ASSERT_LT(k.kernel, f->kernel_count());
      EXPECT_NE(f->name(k.kernel).find(fmt::format("_{}x{}x{}_", k.tile.m, k.tile.n, k.tile.k)),
                std::string::npos)
          << f->name(k.kernel);
      EXPECT_FALSE(k.roles.empty()) << f->name(k.kernel);
    }
  EXPECT_EQ(recorded, (std::set<std::string_view>{"sm90_gemm", "sm80_gemm", "sm100_gemm"}));
}

TEST(Family, ALaunchWithARecordNeedsAKernelThatHasOne) {
  for (gemm_plan const& plan :
       plan_candidates(tn(1000, 700, 3000), with_workspace(), h200(), kernel_set::all)) {
    auto const all = plan.family->profiled();
    if (std::ranges::find(all, plan.instance, &profiled_kernel::kernel) != all.end()) continue;
    try {
      plan.family->launch_emulated_profiled(plan, {}, stage_log{}, {});
      FAIL() << plan.kernel;
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0505");
    }
  }
}

TEST(KernelSet, EachMainLoopHasARepresentative) {
  std::set<mainloop_kind> represented;
  for (auto const& i : sm90_gemm_family::instances())
    if (i.representative) represented.insert(i.config.mainloop());
  for (auto const& i : sm90_gemm_family::instances())
    EXPECT_TRUE(represented.contains(i.config.mainloop())) << i.name;
  EXPECT_EQ(represented.size(), static_cast<std::size_t>(mainloop_kind::block_scaled) + 1);
}

TEST(KernelSet, EachPairOfTypesAndMajorsHasARepresentative) {
  auto const key = [](gemm_config const& c) {
    return std::tuple(c.a.multiplied, c.b.multiplied, c.d, c.a.major, c.b.major, c.fused());
  };
  std::set<decltype(key({}))> all, represented;
  for (auto const& i : sm90_gemm_family::instances()) {
    if (i.config.fused()) continue;
    all.insert(key(i.config));
    if (i.representative) represented.insert(key(i.config));
  }
  EXPECT_EQ(represented, all);
}

TEST(KernelSet, ABuildHasItsSet) {
  int built = 0, all = 0, representatives = 0;
  for (gemm_family const* f : families())
    for (int kernel = 0; kernel < f->kernel_count(); ++kernel) built += f->built(kernel), ++all;
  for (auto const& i : sm90_gemm_family::instances()) representatives += i.representative;
  for (auto const& i : gemv_family::instances()) representatives += i.representative;
  for (auto const& i : sm80_gemm_family::instances()) representatives += i.representative;
  for (auto const& i : sm100_gemm_family::instances()) representatives += i.representative;
  for (auto const& i : sm100_scaled_family::instances()) representatives += i.representative;
  kernel_set_facts const here = kernels_of_this_build();
  EXPECT_EQ(here.built, built);
  EXPECT_EQ(here.all, all);
  EXPECT_EQ(here.built, here.name == "full" ? all : representatives);
}

TEST(KernelSet, WhereTheFirstKernelIsMissingTheNextBestIsTaken) {
  kernel_set_facts const here = kernels_of_this_build();
  for (gemm_problem const& p : {tn(8192, 8192, 8192), tn(128, 3000, 5000)}) {
    auto const all = plan_candidates(p, with_workspace(), h200(), kernel_set::all);
    gemm_plan const plan = plan_gemm(p, with_workspace(), h200());
    auto const first = std::ranges::find_if(all, &gemm_plan::built);
    ASSERT_NE(first, all.end());
    EXPECT_EQ(plan.kernel, first->kernel);
    EXPECT_EQ(plan.missed, first == all.begin() ? "" : all.front().kernel);
    if (here.built == here.all) {
      EXPECT_EQ(first, all.begin());
    }
  }
}

}  // namespace
}  // namespace tw::test
