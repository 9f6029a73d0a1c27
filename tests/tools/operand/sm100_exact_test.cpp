// SPDX-License-Identifier: Apache-2.0
// sm100_exact_test.cpp  Blackwell kernels with the sums of the published model keep the bound
//                       of `gemm --check`, on random data and where factors are subnormal.
#include <set>

#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/scales/block_scaled_cases.hpp"
#include "tests/kernel/typed_cases.hpp"
#include "tools/check/check.hpp"

namespace tw::test {
namespace {

emu_options exact_schedule(int i, std::mt19937_64& rng) {
  emu_options o;
  o.policy = static_cast<async_policy>(i % 3);
  o.sms = 4;
  o.seed = rng();
  o.exact_sums = true;
  return o;
}

/// The built plans of the families for tensor cores: the others add in other ways.
std::vector<gemm_plan> tensor_core_plans(gemm_problem const& p, gemm_operands const& o,
                                         char const* device) {
  try {
    std::vector<gemm_plan> plans =
        plan_candidates(p, o, with_sm_count(known_device(device), 4), kernel_set::all);
    std::erase_if(plans, [](gemm_plan const& x) {
      return !x.built || (!x.family->id().starts_with("sm100") && x.family->id() != "sm90_gemm");
    });
    return plans;
  } catch (rejected const&) {
    return {};  // no kernel of this build
  }
}

/// Judges one plan, which the generator chooses. The largest share of the bound; 0 without a plan.
template <class Product>
double judge_exact(Product& p, int i, std::mt19937_64& rng, emu_workspace& space) {
  gemm_operands operands = p.operands();
  space.give(operands);
  std::vector<gemm_plan> const plans = tensor_core_plans(p.problem, operands, "b200");
  if (plans.empty()) return 0;
  gemm_plan const& plan = plans[rng() % plans.size()];
  emulate(plan, operands, exact_schedule(i, rng));
  check_report const c = check_gemm(p.problem, operands);
  EXPECT_TRUE(c.passed()) << "case " << i << ", " << plan.kernel << ", " << p.text() << ": "
                          << c.wrong << " wrong";
  return c.largest_ratio.ratio;
}

TEST(Sm100ExactEmu, RandomTypesKeepTheBoundOfCheck) {
  std::mt19937_64 rng(20261126);
  emu_workspace space;
  using enum elem;
  for (types const& t : {types{bf16, bf16, bf16}, types{f16, f16, f32}, types{f16, f16, f16},
                         types{tf32, tf32, f32}, types{e4m3, e4m3, bf16}}) {
    int judged = 0;  // with an error; the build has kernels for some orders alone
    for (int i = 0; i < 100 && judged < 4 && !HasFailure(); ++i) {
      typed_product p = random_typed(rng, t, 90);
      judged += judge_exact(p, i, rng, space) > 0;
    }
    EXPECT_GT(judged, 1) << text_of(t);
  }
}

TEST(Sm100ExactEmu, BlockScaledFormatsKeepTheBoundOfCheck) {
  std::mt19937_64 rng(20261127);
  emu_workspace space;
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4}) {
    int judged = 0;
    for (int i = 0; i < 100 && judged < 4 && !HasFailure(); ++i) {
      block_scaled_product p = random_block_scaled(rng, f, 90, false);
      judged += judge_exact(p, i, rng, space) > 0;
    }
    EXPECT_GT(judged, 1) << traits_of(f).name;
  }
}

/// A subnormal factor aligns the terms as the smallest normal number does: here 15 terms of 16
/// vanish beside one that is 2^15 times as large, on Hopper (measured) and on Blackwell.
TEST(Sm100ExactEmu, SubnormalFactorsKeepTheBoundOfCheck) {
  constexpr int m = 8, n = 16, k = 16;
  auto const nearly_two = 2 - 0x1p-10F;
  product p;
  p.a = make_matrix(elem::f16, order::col_major, m, k, 0, [] { return 0.0F; });
  p.b = make_matrix(elem::f16, order::col_major, k, n, 0, [] { return 0.0F; });
  p.d = make_matrix(elem::f32, order::row_major, m, n, 0, nullptr);
  p.problem = {m, n, k, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
  for (int r = 0; r < m; ++r)
    for (int i = 0; i < k; ++i) p.a.store(r, i, 0, i == 0 ? 0x1p-24F : nearly_two * 0x1p-14F);
  for (int c = 0; c < n; ++c)
    for (int i = 0; i < k; ++i) p.b.store(i, c, 0, i == 0 ? 0x1p15F : nearly_two * 0x1p-12F);
  std::mt19937_64 rng(1);
  emu_workspace space;
  std::set<std::string_view> families;
  for (char const* device : {"h200", "b200"}) {
    gemm_operands operands = p.operands();
    space.give(operands);
    for (gemm_plan const& plan : tensor_core_plans(p.problem, operands, device)) {
      families.insert(plan.family->id());
      emulate(plan, operands, exact_schedule(0, rng));
      EXPECT_EQ(p.d.load(3, 5, 0), 0x1p-9) << plan.kernel;  // the others are 15 * 2^-24.02
      check_report const c = check_gemm(p.problem, operands);
      EXPECT_TRUE(c.passed()) << plan.kernel << ": " << c.largest_ratio.ratio;
    }
  }
  EXPECT_EQ(families.size(), 2U);
}

}  // namespace
}  // namespace tw::test
