// SPDX-License-Identifier: Apache-2.0
// fused.cu  Fused epilogues on a GPU: random combinations over random shapes and plans against
//           float64, as tests/kernel/epilogue/fused_emu_test.cpp has them. Exit 0 done, 1 wrong,
//           77 no GPU.
#include <map>

#include "tests/gpu/built_plans.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/epilogue/fused_cases.hpp"

namespace tw::test {
namespace {

class Fused : public testing::Test {
 protected:
  static constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
  static void SetUpTestSuite() {
    must(cudaMalloc(&workspace_, workspace_bytes));
    must(cudaMemset(workspace_, 0, workspace_bytes));
  }
  /// One of the plans that are built, mostly one of the first; an empty text if none is built.
  std::string run(fused_product& p, std::mt19937_64& rng) {
    device_copy const a(p.a), b(p.b), c(p.c), d(p.d), bias(p.bias), rows(p.row_scale),
        cols(p.col_scale), aux(p.aux);
    gemm_operands o;
    o.a = a.data, o.b = b.data, o.c = c.data, o.d = d.data, o.bias = bias.data;
    o.row_scale = static_cast<float const*>(rows.data);
    o.col_scale = static_cast<float const*>(cols.data);
    o.aux = aux.data;
    o.workspace = workspace_, o.workspace_bytes = workspace_bytes;
    std::vector<gemm_plan> const plans = built_plans(p.problem, o);
    if (plans.empty()) return {};
    std::size_t const most = rng() % 2 != 0 ? std::min<std::size_t>(plans.size(), 3) : plans.size();
    gemm_plan const& plan = plans[rng() % most];
    gemm(plan, o, nullptr);
    must(cudaDeviceSynchronize());
    d.fetch();
    if (p.problem.aux) aux.fetch();
    return plan.kernel + ", split-K tiles " + std::to_string(plan.schedule.split_k_tiles);
  }
  static inline void* workspace_ = nullptr;
};

TEST_F(Fused, RandomCombinationsKeepTheBound) {
  std::mt19937_64 rng(20261122);
  std::map<std::string, int> kernels;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    fused_product p = random_fused(rng, i % 10 == 0 ? 1500 : i % 3 == 0 ? 600 : 200);
    std::string const plan = run(p, rng);
    if (plan.empty()) continue;
    expect_fused_right(p);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan;
    ++kernels[plan.substr(0, plan.find(','))];
  }
  std::printf("%zu kernels ran\n", kernels.size());
  EXPECT_GE(kernels.size(), 25U);
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
