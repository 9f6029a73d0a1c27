// SPDX-License-Identifier: Apache-2.0
// gemv_test.cpp  GEMV kernels with their ordinary loads and stores seen: no access without order,
//                in configurations that the library does not have, with several warps along M.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/gemv/gemv.hpp"

namespace tw::test {
namespace {

/// D (m, n) in f32 = A (m, k) * B (k, n), dense, bf16.
template <gemv_config C>
void expect_clean_and_right(int m, int n, int k, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  auto const fill = [&](int count) {
    std::vector<std::uint16_t> x(static_cast<std::size_t>(count) + 8);
    for (std::uint16_t& v : x) v = to_bf16(static_cast<float>(random() % 255) - 127).bits;
    return x;
  };
  std::vector<std::uint16_t> const a = fill(m * k), b = fill(n * k);
  std::vector<float> d(static_cast<std::size_t>(m * n), NAN);
  gemv_params p{};
  p.a = {a.data(), k, 0};
  p.b = {b.data(), k, 0};
  p.d = {d.data(), n, 1, 0};
  p.alpha = 1;
  p.m = m, p.n = n, p.pieces = k / gemv_config{}.piece();
  p.groups = p.items = (m + C.cta_rows() - 1) / C.cta_rows();
  emu::options o;
  o.seed = seed;
  o.random_warps = true;
  auto const array = [](auto const& x, int count) {
    return emu::global_array{x.data(), static_cast<std::size_t>(count) * sizeof(x[0]), 4096};
  };
  o.arrays = {array(a, m * k), array(b, n * k), array(d, m * n)};
  for (emu::global_array& x : o.arrays) {  // a line less than the kernel reads: reported
    std::size_t const all = x.bytes, line = x.begin == d.data() ? 4U * n : 2U * k;
    x.bytes -= line;
    emu::report const beyond = emu::run(gemv<C>{}, 2, p, o);
    EXPECT_TRUE(beyond.has("E0052")) << beyond.text();
    x.bytes = all;
    std::ranges::fill(d, NAN);
  }
  emu::report const r = emu::run(gemv<C>{}, 2, p, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.plain_stores, 0);
  for (int i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int x = 0; x < k; ++x)
      sum += static_cast<double>(to_float(bf16{a[static_cast<std::size_t>(i / n * k + x)]})) *
             static_cast<double>(to_float(bf16{b[static_cast<std::size_t>(i % n * k + x)]}));
    EXPECT_EQ(d[static_cast<std::size_t>(i)], sum) << i / n << ", " << i % n;
  }
}

class GemvHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
};

TEST_P(GemvHazards, ByFma) {
  auto const seed = static_cast<std::uint64_t>(GetParam());
  expect_clean_and_right<gemv_config{elem::bf16, elem::f32, 3, 2, 1, 2, 2, 1}>(40, 2, 776, seed);
  expect_clean_and_right<gemv_config{elem::bf16, elem::f32, 2, 1, 3, 1, 3, 1}>(13, 1, 2504, seed);
}

TEST_P(GemvHazards, ByMma) {
  auto const seed = static_cast<std::uint64_t>(GetParam());
  expect_clean_and_right<gemv_config{elem::bf16, elem::f32, 16, 8, 1, 2, 2, 1}>(150, 5, 200, seed);
  expect_clean_and_right<gemv_config{elem::bf16, elem::f32, 16, 8, 2, 1, 3, 1}>(50, 8, 488, seed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GemvHazards, testing::Range(1, 6));

}  // namespace
}  // namespace tw::test
