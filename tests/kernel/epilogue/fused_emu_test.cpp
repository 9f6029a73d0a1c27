// SPDX-License-Identifier: Apache-2.0
// fused_emu_test.cpp  Fused epilogues in the emulator against float64: random combinations over
//                     random shapes, and every fused kernel with whole and with split-K tiles.
#include "tests/effort.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"

#include <set>

#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"

namespace tw::test {
namespace {

/// Runs one of the plans for `p`, which the generator chooses. False: the test has failed.
bool runs_right(fused_product& p, emu_workspace& space, std::mt19937_64& rng, int index) {
  emu_options o;
  o.policy = async_policy(index % 3);
  o.seed = rng();
  o.random_warps = index % 2 != 0;
  o.sms = 2 + 2 * (index % 4);
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> const plans = built_plans(p.problem, operands, o.sms);
  if (plans.empty()) return true;  // TW_KERNELS=representative has fewer fused kernels
  gemm_plan const& plan = plans[rng() % plans.size()];
  emulate(plan, operands, o);
  expect_fused_right(p);
  if (testing::Test::HasFailure())
    ADD_FAILURE() << "case " << index << ", emulator seed " << o.seed << ", " << plan.kernel << ", "
                  << plan.why;
  return !testing::Test::HasFailure();
}

TEST(FusedEmu, RandomCombinationsKeepTheBound) {
  std::mt19937_64 rng(20261121);
  emu_workspace space;
  for (int i = 0; i < sample(150); ++i) {
    fused_product p = random_fused(rng, i % 4 == 0 ? 400 : i % 4 == 1 ? 64 : 200);
    if (!runs_right(p, space, rng, i)) return;
  }
}

/// Every fused shape of the list with each way of sharing tiles that it is planned with.
TEST(FusedEmu, EveryShapeWithWholeAndSplitKTiles) {
  std::mt19937_64 rng(3);
  emu_workspace space;
  std::set<std::string> ways;
  std::size_t shapes = 0, expected = 0;
  for (gemm_config const& t : tile_shapes()) {
    if (!t.fused() || t.grouped()) continue;  // groups_emu_test.cpp has groups
    ++shapes;
    expected += t.shares_tiles() ? 2 : 1;
    for (int tries = 0; tries < 1500 && ways.size() < expected; ++tries) {
      fused_product p = random_fused(rng, 300);
      if ((p.problem.epilogue.gate != gating::none) != t.gated()) continue;
      gemm_operands operands = p.operands();
      space.give(operands);
      for (gemm_plan const& plan : built_plans(p.problem, operands, 8)) {
        if (!is_sm90_gemm(plan)) continue;
        gemm_config const& found = config_of(plan);
        gemm_config const c = config_of(t, found.a, found.b, found.d);
        std::string const way =
            std::to_string(shapes) + (plan.schedule.split_k_tiles > 0 ? " shared" : "");
        if (found != c || !ways.insert(way).second) continue;
        emu_options o;
        o.policy = async_policy::random;
        o.seed = rng();
        o.sms = 8;
        emulate(plan, operands, o);
        expect_fused_right(p);
        if (HasFailure()) FAIL() << plan.kernel << " " << plan.why;
        break;
      }
    }
  }
  EXPECT_EQ(ways.size(), expected);
}

}  // namespace
}  // namespace tw::test
