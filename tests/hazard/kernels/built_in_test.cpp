// SPDX-License-Identifier: Apache-2.0
// built_in_test.cpp  Kernels of the family sm90_gemm whose ordinary loads and stores are seen, with
//                    the parameters that the planner gives them for random problems: no access
//                    without order, and none past an array. In the library's own build of these
//                    kernels only copies, matrix instructions and barriers are seen.
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <vector>

#include "family/bind.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tests/effort.hpp"
#include "tests/hazard/hazard_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"
#include "tests/kernel/scales/result_scale_cases.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

namespace tw::test {
namespace {

constexpr gemm_config two_blocks_of_columns{.d = elem::e4m3,
                                            .tile_m = 128,
                                            .tile_n = 256,
                                            .cluster_m = 1,
                                            .stages = 3,
                                            .epilogue = epilogue_id::quantize};
constexpr gemm_config gated_result{.d = elem::e4m3,
                                   .tile_m = 128,
                                   .tile_n = 256,
                                   .cluster_m = 1,
                                   .stages = 3,
                                   .epilogue = epilogue_id::gated_quantize};
constexpr gemm_config swapped_result{.a = {elem::e4m3},
                                     .b = {elem::e4m3},
                                     .d = elem::e4m3,
                                     .d_m = true,
                                     .tile_m = 128,
                                     .tile_n = 16,
                                     .cluster_m = 1,
                                     .stages = 11,
                                     .epilogue = epilogue_id::quantize,
                                     .sums = sum_form::promoted_128};
constexpr gemm_config two_results{.d = elem::bf16,
                                  .tile_m = 128,
                                  .tile_n = 128,
                                  .cluster_m = 2,
                                  .stages = 6,
                                  .epilogue = epilogue_id::gated_aux};

/// The first plan with kernel C that needs no other launch.
template <gemm_config C>
std::optional<gemm_plan> plan_of(gemm_problem const& p, gemm_operands const& o) {
  device const dev = with_sm_count(known_device("h200"), 4);
  for (gemm_plan const& plan : plan_candidates(p, o, dev, kernel_set::all))
    if (is_sm90_gemm(plan) && config_of(plan) == C && !plan.stage_d && !plan.repitch.a &&
        !plan.repitch.b)
      return plan;
  return std::nullopt;
}

class BuiltInHazards : public testing::Test {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without sight of ordinary loads and stores";
  }

  /// Runs the problem by kernel C, if a plan has it; `array`: memory with bytes around it.
  template <gemm_config C, class Product>
  void run(Product& x, std::optional<emu::global_array> array = {}) {
    gemm_operands o = x.operands();
    space_.give(o);
    std::optional<gemm_plan> const plan = plan_of<C>(x.problem, o);
    if (!plan) return;
    launch_form const form = form_of(*plan, o);
    emu::options options;
    options.seed = static_cast<std::uint64_t>(++runs_);
    options.random_warps = runs_ % 2 != 0;
    options.policy = emu::async_policy(runs_ % 3);
    if (array) options.arrays.push_back(*array);
    emu::report const r =
        emu::run(gemm_sm90<C>{}, plan->schedule.clusters * C.cluster_m * C.cluster_n * C.cluster_k,
                 make_params(*plan, form.problem, form.operands, target::emu), options);
    EXPECT_TRUE(r.clean()) << x.text() << " " << plan->kernel << "\n" << r.text();
    EXPECT_GT(r.counts.plain_stores, 0);
  }
  template <gemm_config C>
  void run_with_scales_of_d(scaled_result_request const& request) {
    for (int i = 0; i < 2000 && runs_ < most_ && !HasFailure(); ++i) {
      scaled_result x = random_case(random_, request);
      if (!C.d_m && x.d.cols % 256 > 128) continue;  // the last tile has two blocks of columns
      run<C>(x, emu::global_array{x.scales.data() + x.margin, x.scales.size() - 2 * x.margin,
                                  x.margin});
    }
    EXPECT_EQ(runs_, most_);
  }

  std::mt19937_64 random_{20261126};
  emu_workspace space_;
  int const most_ = sample(8, 3);
  int runs_ = 0;
};

TEST_F(BuiltInHazards, ScalesOfOneBlockOfTwo) {
  run_with_scales_of_d<two_blocks_of_columns>({elem::bf16, elem::e4m3});
}
TEST_F(BuiltInHazards, ScalesAfterAGate) {
  run_with_scales_of_d<gated_result>({elem::bf16, elem::e4m3});
}
TEST_F(BuiltInHazards, ScalesOfATransposedResult) {
  run_with_scales_of_d<swapped_result>({elem::e4m3, elem::e4m3});
}
TEST_F(BuiltInHazards, AGateAndAnAuxiliaryResult) {
  for (int i = 0; i < 2000 && runs_ < most_ && !HasFailure(); ++i) {
    fused_product x = random_fused(random_, 200);
    run<two_results>(x);
  }
  EXPECT_EQ(runs_, most_);
}

}  // namespace
}  // namespace tw::test
