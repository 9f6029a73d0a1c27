// SPDX-License-Identifier: Apache-2.0
// gemv.cu  Every GEMV kernel on a GPU: random problems against float64, and the emulator's bits
//          against the GPU's. Exit 0 done, 1 wrong, 77 no GPU.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#include "tests/gpu/device_copy.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/gemv_cases.hpp"

namespace tw::test {
namespace {

/// Runs this plan on a GPU; D comes back.
void run_on_card(product& p, gemm_plan const& plan) {
  std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
  device_copy const a(p.a), b(p.b), c(p.c), d(p.d);
  gemm(plan, {a.data, b.data, c.data, d.data}, nullptr);
  must(cudaDeviceSynchronize());
  d.fetch();
}

TEST(Gemv, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261122);
  std::set<std::string> kernels;
  for (int i = 0; i < 240 && !HasFailure(); ++i) {
    product p = i % 8 == 0 ? random_few(rng, 3000, 16000) : random_few(rng, 500, 4000);
    std::vector<gemm_plan> const plans = gemv_plans(p, gpu().sms);
    if (plans.empty()) continue;  // a batch that is one GEMM of more rows
    gemm_plan const& plan = plans[rng() % plans.size()];
    run_on_card(p, plan);
    expect_right(p);
    kernels.insert(plan.kernel);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan.kernel << ", " << plan.why;
  }
  EXPECT_EQ(kernels.size(), built_gemvs());
}

/// Multiply-adds and sums have one order: GPU and emulator agree in every bit. (The tensor cores
/// round sums in their own way.)
TEST(Gemv, MultiplyAddsGiveTheEmulatorsBits) {
  std::mt19937_64 rng(9);
  int compared = 0;
  for (int i = 0; i < 24; ++i) {
    product p = random_few(rng, 200, 5000);
    for (gemm_plan const& plan : gemv_plans(p, gpu().sms)) {
      if (gemv_family::config_of(plan).by_mma()) continue;
      run_on_card(p, plan);
      std::vector<std::byte> const card = p.d.bytes;
      std::fill(p.d.bytes.begin(), p.d.bytes.end(), std::byte{0xFF});
      gemm_emulated(plan, p.operands());
      EXPECT_EQ(p.d.bytes, card) << plan.kernel << " " << p.text();
      ++compared;
    }
  }
  EXPECT_GT(compared, 8);
}

TEST(Gemv, ALargeProblemIsRightAndRepeats) {
  std::mt19937_64 rng(10);
  std::normal_distribution<float> normal;
  auto const fill = [&] { return normal(rng); };
  for (int const rows : {1, 2, 7}) {
    product p;
    p.a = make_matrix(elem::bf16, order::row_major, rows, 8192, 0, fill);
    p.b = make_matrix(elem::bf16, order::col_major, 8192, 5120, 0, fill);
    p.d = make_matrix(elem::bf16, order::row_major, rows, 5120, 0, nullptr);
    p.problem = {rows, 5120, 8192, p.a.desc, p.b.desc, p.d.desc, std::nullopt, 1.0F, 0.0F};
    for (gemm_plan const& plan : gemv_plans(p, gpu().sms)) {
      run_on_card(p, plan);
      expect_right(p);
      std::vector<std::byte> const once = p.d.bytes;
      run_on_card(p, plan);
      EXPECT_EQ(p.d.bytes, once) << plan.kernel;
    }
  }
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
