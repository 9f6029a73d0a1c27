// SPDX-License-Identifier: Apache-2.0
// tuned_groups_test.cpp  Which problems take a plan that was tuned for groups or prepared weights.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "dispatch/tuning/tuned.hpp"
#include "tests/dispatch/problems.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

constexpr std::int64_t group_count = 64;
tuning_identity const this_gpu{"NVIDIA H200", "13.0", tuning_version(), 132};

/// Groups of rows, 128 each unless another total is said.
gemm_problem groups_of(std::int64_t total = 128 * group_count) {
  gemm_problem p = tn(total, 1024, 512);
  p.groups = group_desc{.axis = group_axis::m, .count = group_count};
  p.b.batch_stride_elems = p.n * p.k;
  return p;
}

class TunedGroups : public testing::Test {
 protected:
  TunedGroups() {
    char name[] = "/tmp/tuned_groups_XXXXXX";
    folder_ = ::mkdtemp(name);
    ::setenv("TILEWRIGHT_TUNE", (folder_ + "/tune.db").c_str(), 1);
    pretend_identity(this_gpu);
  }
  ~TunedGroups() override {
    ::unsetenv("TILEWRIGHT_TUNE");
    pretend_identity(std::nullopt);
    std::filesystem::remove_all(folder_);
  }
  static std::vector<gemm_plan> plans(gemm_problem const& p, kernel_set k = kernel_set::built) {
    return plan_candidates(p, with_workspace(), h200(), k);
  }
  static gemm_plan plan(gemm_problem const& p) { return plans(p)[0]; }
  void tune(gemm_problem const& p, gemm_plan const& x, double us = 7.5) const {
    tuning_store(folder_ + "/tune.db", tuning_store::access::write)
        .finish(this_gpu, p,
                {x.kernel, x.swapped, x.schedule.split_k_tiles, x.schedule.split_k_clusters, us, 8},
                3);
    forget_tuning();
  }

  std::string folder_;
};

TEST_F(TunedGroups, ThePlannerTakesThePlanOfTheExactProblem) {
  gemm_problem const p = groups_of();
  gemm_plan const last = plans(p).back();
  ASSERT_NE(last.kernel, plan(p).kernel);
  tune(p, last);
  gemm_plan const found = plan(p);
  EXPECT_EQ(found.source, plan_source::tuned);
  EXPECT_EQ(found.kernel, last.kernel);
  EXPECT_EQ(found.measured_us, 7.5);
  EXPECT_EQ(found.measured_for, "");
}

TEST_F(TunedGroups, SizesWithinTheSquareRootOfTwoTakeTheKernel) {
  gemm_plan const last = plans(groups_of()).back();
  tune(groups_of(), last);
  struct {
    std::int64_t rows;
    bool found;
  } const cases[] = {{64, false}, {90, false}, {91, true}, {127, true}, {181, true}, {182, false}};
  for (auto const& c : cases) {
    gemm_plan const x = plan(groups_of(c.rows * group_count));
    EXPECT_EQ(x.source == plan_source::tuned, c.found) << c.rows;
    if (!c.found) continue;
    EXPECT_EQ(x.kernel, last.kernel) << c.rows;
    EXPECT_EQ(x.measured_us, 0) << "of another problem";
    EXPECT_EQ(x.measured_for, "M = 8192, 128 rows a group");
    EXPECT_NE(x.why.find("on this GPU for M = 8192, 128 rows a group"), std::string::npos) << x.why;
  }
}

TEST_F(TunedGroups, TheNearestSizeCounts) {
  auto const all = plans(groups_of());
  tune(groups_of(100 * group_count), all.back());
  tune(groups_of(150 * group_count), all.front());
  EXPECT_EQ(plan(groups_of(110 * group_count)).kernel, all.back().kernel);
  EXPECT_EQ(plan(groups_of(140 * group_count)).kernel, all.front().kernel);
  EXPECT_EQ(plan(groups_of(140 * group_count)).measured_for, "M = 9600, 150 rows a group");
  tune(groups_of(120 * group_count), all.back());
  EXPECT_EQ(plan(groups_of(120 * group_count)).measured_for, "") << "the exact problem comes first";
}

TEST_F(TunedGroups, TheExpectedSizeIsTheSize) {
  gemm_problem tuned = groups_of(), other = groups_of(2 * tuned.m);
  tuned.groups->expected_size = 20;
  tune(tuned, plans(tuned).back());
  EXPECT_EQ(plan(groups_of()).source, plan_source::model);
  EXPECT_EQ(plan(other).source, plan_source::model);
  other.groups->expected_size = 24;
  EXPECT_EQ(plan(other).measured_for, "M = 8192, 20 rows a group");
  tune(groups_of(20 * group_count), plans(tuned).front());  // of the size, but another total
  other.groups->expected_size = 20;
  EXPECT_EQ(plan(other).measured_for, "M = 8192, 20 rows a group") << "its total is nearer";
}

TEST_F(TunedGroups, HowTheArrayStatesSizesDoesNotMatter) {
  tune(groups_of(), plans(groups_of()).back());
  for (group_form const f : {group_form::starts, group_form::sizes}) {
    gemm_problem p = groups_of();
    p.groups->form = f, p.groups->index_bits = 64;
    EXPECT_EQ(plan(p).source, plan_source::tuned) << group_form_names[static_cast<int>(f)];
  }
}

TEST_F(TunedGroups, OtherProblemsDoNotTakeThePlan) {
  tune(groups_of(), plans(groups_of()).back());
  std::vector<gemm_problem> others(7, groups_of(130 * group_count));
  ASSERT_EQ(plan(others[0]).source, plan_source::tuned);
  others[0].groups->count = 65;
  others[1].n = 1032, others[1].d.pitch_elems = 1032, others[1].b.batch_stride_elems = 1032 * 512;
  others[2].a.pitch_elems = 520;
  others[3].d.type = elem::f32;
  others[4].groups->gather_from = others[4].m;
  others[5].groups->form = group_form::rows;
  others[6].epilogue.act = activation::silu;
  for (std::size_t i = 0; i < others.size(); ++i)
    EXPECT_NE(key_without_total(others[i]), key_without_total(groups_of())) << i;
  EXPECT_EQ(plan(others[0]).source, plan_source::model);
  EXPECT_EQ(plan(tn(8192, 1024, 512)).source, plan_source::model) << "no groups";
}

TEST_F(TunedGroups, DistancesThatFollowFromTheTotalDoNotMatter) {
  auto const same = [](gemm_problem const& p, gemm_problem const& q) {
    EXPECT_NE(problem_key(p), problem_key(q));
    EXPECT_EQ(key_without_total(p), key_without_total(q));
  };
  auto const of_k = [](std::int64_t total) {  // gradients of weights, layout NT
    gemm_problem p = tn(512, 1024, total);
    p.a = {elem::bf16, order::col_major, p.m}, p.b = {elem::bf16, order::row_major, p.n};
    p.groups = group_desc{.axis = group_axis::k, .count = 4};
    p.d.batch_stride_elems = p.m * p.n;
    return p;
  };
  same(of_k(4096), of_k(8192));
  auto const k_major = [&](std::int64_t total) {
    gemm_problem p = of_k(total);
    p.a = {elem::bf16, order::row_major, total}, p.b = {elem::bf16, order::col_major, total};
    return p;
  };
  same(k_major(4096), k_major(8192));
  auto const of_n = [](std::int64_t total) {
    gemm_problem p = tn(512, total, 1024);
    p.groups = group_desc{.axis = group_axis::n, .count = 4};
    p.a.batch_stride_elems = p.m * p.k;
    return p;
  };
  same(of_n(4096), of_n(8192));
  auto const slots = [](std::int64_t rows) {
    gemm_problem p = batch_of(tn(rows, 1024, 512), 4);
    p.groups = group_desc{.axis = group_axis::m, .form = group_form::counts, .count = 4};
    return p;
  };
  same(slots(128), slots(160));
  EXPECT_EQ(usual_group_size(slots(128)), 128);
  for (scale_library const l : {scale_library::torch, scale_library::cublaslt}) {
    auto const scaled = [&](std::int64_t total) {
      gemm_problem p = groups_of(total);
      p.a.type = p.b.type = elem::e4m3;
      p.scale_a = make_scale({false, p.m, p.k}, scaling::block_1x128, l);
      p.scale_b = make_scale({true, p.n, p.k}, scaling::block_128x128, l);
      return p;
    };
    same(scaled(8192), scaled(9216));
  }
}

TEST_F(TunedGroups, AKernelThatThisBuildLacksIsLeftOut) {
  gemm_problem const p = groups_of();
  for (gemm_plan const& x : plans(p, kernel_set::all)) {
    if (x.built) continue;
    tune(p, x);
    for (gemm_problem const& q : {p, groups_of(120 * group_count)}) {
      gemm_plan const chosen = plan(q);
      EXPECT_EQ(chosen.source, plan_source::model);
      EXPECT_TRUE(chosen.built);
    }
    gemm_plan unknown = x;
    unknown.kernel = "sm90_of_another_build";
    tune(p, unknown);
    EXPECT_EQ(plan(p).source, plan_source::model);
    return;
  }
  GTEST_SKIP() << "this build has all kernels";
}

TEST_F(TunedGroups, PreparedWeightsAreFoundByTheirExactProblem) {
  gemm_problem p = tn(16, 4096, 4096);
  p.weights_b = {weight_code::int4, elem::bf16, weight_zeros::none, 128};
  auto const all = plans(p);
  ASSERT_GT(all.size(), 1U);
  tune(p, all.back());
  EXPECT_EQ(plan(p).kernel, all.back().kernel);
  EXPECT_EQ(plan(p).source, plan_source::tuned);
  EXPECT_EQ(plan(p).schedule.split_k_tiles, all.back().schedule.split_k_tiles);
  gemm_problem wider = p, plain = p, grouped = groups_of();
  wider.m = 17;
  plain.weights_b = {};
  EXPECT_EQ(plan(wider).source, plan_source::model);
  EXPECT_NE(plan(plain).source, plan_source::tuned);

  grouped.weights_b = p.weights_b;
  tune(grouped, plans(grouped).back());
  EXPECT_EQ(plan(grouped).source, plan_source::tuned);
  grouped.m += group_count;
  EXPECT_EQ(plan(grouped).measured_for, "M = 8192, 128 rows a group");
}

}  // namespace
}  // namespace tw::test
