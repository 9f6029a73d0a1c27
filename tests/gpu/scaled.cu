// SPDX-License-Identifier: Apache-2.0
// scaled.cu  GEMMs with scales of A and B on a GPU: random ones against float64, and the time of
//            large ones. Exit 0 done, 1 wrong, 77 no GPU.
#include <array>

#include "tests/gpu/built_plans.hpp"
#include "tests/gpu/device_copy.hpp"
#include "tests/gpu/device_scales.hpp"
#include "tests/kernel/scales/scaled_cases.hpp"

namespace tw::test {
namespace {

class Scaled : public testing::Test {
 protected:
  static constexpr std::int64_t workspace_bytes = std::int64_t{128} << 20;
  static void SetUpTestSuite() {
    must(cudaMalloc(&workspace_, workspace_bytes));
    must(cudaMemset(workspace_, 0, workspace_bytes));
  }
  static inline void* workspace_ = nullptr;
};

TEST_F(Scaled, RandomProblemsKeepTheBound) {
  std::mt19937_64 rng(20261126);
  std::array const requests{random_request{elem::e4m3, elem::e4m3, elem::bf16, true},
                            random_request{elem::e4m3, elem::e4m3, elem::f32, true},
                            random_request{elem::e5m2, elem::e4m3, elem::bf16, true},
                            random_request{elem::e4m3, elem::e4m3, elem::bf16, false},
                            random_request{elem::s8, elem::s8, elem::bf16, false},
                            random_request{elem::bf16, elem::bf16, elem::bf16, false}};
  int ran = 0;
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    scaled_product p =
        random_scaled(rng, requests[static_cast<std::size_t>(i) % requests.size()], finite_scale);
    device_copy const a(p.a), b(p.b), d(p.d);
    device_scales const sa(p.of_a), sb(p.of_b);
    gemm_operands o{a.data, b.data, nullptr, d.data, workspace_, workspace_bytes};
    o.scale_a = sa.data, o.scale_b = sb.data;
    std::vector<gemm_plan> const plans = built_plans(p.problem, o);
    if (plans.empty()) continue;
    ++ran;
    gemm_plan const& plan = plans[rng() % plans.size()];
    gemm(plan, o, nullptr);
    must(cudaDeviceSynchronize());
    d.fetch();
    expect_right(p);
    if (HasFailure()) ADD_FAILURE() << "case " << i << ", " << plan.kernel;
  }
  std::printf("%d of 400 problems have kernels in this build\n", ran);
  EXPECT_GE(ran, 40);
}

TEST_F(Scaled, TimesOfLargeProblems) {
  for (std::int64_t const n : {4096, 8192}) {
    void *a = nullptr, *b = nullptr, *d = nullptr, *scales = nullptr;
    must(cudaMalloc(&a, n * n));
    must(cudaMalloc(&b, n * n));
    must(cudaMalloc(&d, 2 * n * n));
    must(cudaMalloc(&scales, n * n / 16));
    must(cudaMemset(a, 0x31, n * n));
    must(cudaMemset(b, 0x2D, n * n));
    must(cudaMemset(scales, 0x3C, n * n / 16));
    using enum scaling;
    for (auto const& [of_a, of_b] :
         {std::pair{tensor, tensor}, std::pair{row, row}, std::pair{block_1x128, block_128x128},
          std::pair{block_128x128, block_128x128}, std::pair{block_1x128, block_1x128}}) {
      gemm_problem p{n,
                     n,
                     n,
                     {elem::e4m3, order::row_major, n},
                     {elem::e4m3, order::col_major, n},
                     {elem::bf16, order::row_major, n}};
      p.scale_a = make_scale({false, n, n}, of_a);
      p.scale_b = make_scale({true, n, n}, of_b);
      gemm_operands o{a, b, nullptr, d, workspace_, workspace_bytes};
      o.scale_a = o.scale_b = scales;
      gemm_plan const plan = plan_gemm(p, o, gpu_device());
      cudaEvent_t begin, end;
      must(cudaEventCreate(&begin));
      must(cudaEventCreate(&end));
      gemm(plan, o, nullptr);
      must(cudaEventRecord(begin));
      constexpr int runs = 10;
      for (int i = 0; i < runs; ++i) gemm(plan, o, nullptr);
      must(cudaEventRecord(end));
      must(cudaEventSynchronize(end));
      float ms = 0;
      must(cudaEventElapsedTime(&ms, begin, end));
      double const us = 1e3 * ms / runs;
      std::printf("%ld^3 e4m3, scales %s x %s: %.1f us, %.0f TFLOP/s, %s\n", static_cast<long>(n),
                  name(of_a), name(of_b), us, 2e-6 * static_cast<double>(n * n * n) / us,
                  plan.kernel.c_str());
    }
    for (void* x : {a, b, d, scales}) must(cudaFree(x));
  }
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
