// SPDX-License-Identifier: Apache-2.0
// gemv_model_test.cpp  The predicted times of GEMV kernels beside times that were measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {
namespace {

struct gemv_measurement {
  std::int64_t m, n, k;
  char const* kernel;
  double us;
};

/// bf16, dense, layout TN, on an H200: rows of data/trials/h200.csv.gz.
constexpr gemv_measurement h200_gemvs[] = {
    {1, 3072, 8192, "gemv_bf16_bf16_16x16_u4_1x8_c2", 14.759},
    {1, 6144, 4096, "gemv_bf16_bf16_16x8_u4_1x16_c1", 15.433},
    {1, 10752, 5376, "gemv_bf16_bf16_16x8_u4_1x16_c1", 33.53},
    {1, 27648, 5120, "gemv_bf16_bf16_16x16_u4_1x8_c2", 67.247},
    {1, 28672, 8192, "gemv_bf16_bf16_4x1_u2_1x8_c2", 106.483},
    {2, 2560, 9728, "gemv_bf16_bf16_16x16_u4_1x8_c2", 15.461},
    {2, 4608, 18432, "gemv_bf16_bf16_16x8_u4_1x4_c6", 42.543},
    {2, 8192, 8192, "gemv_bf16_bf16_16x8_u4_1x16_c1", 35.368},
    {2, 8192, 22528, "gemv_bf16_bf16_16x8_u4_1x4_c6", 85.696},
    {2, 40960, 7168, "gemv_bf16_bf16_16x16_u4_1x8_c2", 134.084},
    {4, 3072, 8192, "gemv_bf16_bf16_16x16_u4_1x8_c2", 14.828},
    {4, 5120, 8192, "gemv_bf16_bf16_16x16_u4_1x8_c2", 26.074},
    {4, 10752, 5376, "gemv_bf16_bf16_16x8_u4_1x4_c6", 29.911},
    {4, 32768, 6144, "gemv_bf16_bf16_16x8_u4_1x4_c6", 94.899},
    {4, 128256, 8192, "gemv_bf16_bf16_16x8_u4_1x4_c6", 487.136},
    {8, 1280, 8192, "gemv_bf16_bf16_16x8_u4_1x16_c1", 8.797},
    {8, 4608, 18432, "gemv_bf16_bf16_16x8_u4_1x4_c6", 43.235},
    {8, 15360, 5120, "gemv_bf16_bf16_16x16_u4_1x8_c2", 40.55},
    {8, 152064, 8192, "gemv_bf16_bf16_16x16_u4_1x8_c2", 580.763},
};

TEST(GemvModel, PredictsTheMeasuredTimesInTheMean) {
  double sum = 0;
  for (gemv_measurement const& x : h200_gemvs) {
    gemm_problem p;
    p.m = x.m, p.n = x.n, p.k = x.k;
    p.a = {elem::bf16, order::row_major, x.k};
    p.b = {elem::bf16, order::col_major, x.k};
    p.d = {elem::bf16, order::row_major, x.n};
    std::vector<gemm_plan> const plans =
        plan_candidates(p, {}, known_device("h200"), kernel_set::all);
    auto const plan = std::ranges::find(plans, std::string(x.kernel), &gemm_plan::kernel);
    ASSERT_NE(plan, plans.end()) << x.kernel << " has no plan for M = " << x.m;
    double const ratio = plan->predicted_us / x.us;
    EXPECT_NEAR(ratio, 1, 0.13) << x.m << "x" << x.n << "x" << x.k << " " << x.kernel;
    sum += std::log(ratio);
  }
  EXPECT_NEAR(std::exp(sum / std::size(h200_gemvs)), 1, 0.02);
}

}  // namespace
}  // namespace tw::test
