// SPDX-License-Identifier: Apache-2.0
// nvfp4_example_test.cpp  ladder/blackwell/nvfp4_gemm.hpp: bit for bit the float64 sums of exact
//                         data, and no report.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "ladder/blackwell/nvfp4_gemm.hpp"
#include "tests/hazard/hazard_kernels.hpp"
#include "tests/hazard/kernels/block_scaled_data.hpp"

namespace tw::test {
namespace {

class Nvfp4Example : public testing::TestWithParam<int> {};

TEST_P(Nvfp4Example, ComputesExactSums) {
  constexpr block_scaled_config c{};
  constexpr int m = 256, n = 128, k = 1040;  // the last stage has one block
  std::mt19937 random(3);
  operand_data a(c, elem::e2m1, m, k, random), b(c, elem::e2m1, n, k, random);
  std::vector<float> d(m * n);
  auto const factors = [&](operand_data& x, int rows) {
    return make_tensor_map(factor_map(x.first_factor(), elem::ue4m3, rows, k, c, 1), target::emu);
  };
  nvfp4_gemm::params const p{a.map(c, elem::e2m1, m, 128),
                             b.map(c, elem::e2m1, n, 128),
                             factors(a, m),
                             factors(b, n),
                             0.125F,
                             d.data(),
                             n,
                             up(k, nvfp4_gemm::tile_k) / nvfp4_gemm::tile_k};
  emu::report const r =
      emu::run<nvfp4_gemm, plain_accesses_seen>({}, m / 128 * n / 128, p, scheduled(GetParam()));
  ASSERT_TRUE(r.clean()) << r.text();
  std::vector<double> const x = a.scaled(k, 16), y = b.scaled(k, 16);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double const sum = std::inner_product(&x[static_cast<std::size_t>(i * k)],
                                            &x[static_cast<std::size_t>(i * k)] + k,
                                            &y[static_cast<std::size_t>(j * k)], 0.0);
      float const got = d[static_cast<std::size_t>(i * n + j)];
      if (static_cast<double>(got) != 0.125 * sum && ++wrong <= 3)
        ADD_FAILURE() << i << ", " << j << ": " << got << ", not " << 0.125 * sum;
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, Nvfp4Example, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
