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

/// `count` values between margins of 4 KiB that nothing else lies in.
template <class T>
class with_margins {
 public:
  with_margins(int count, T value)
      : all_(static_cast<std::size_t>(count) + 2 * margin_bytes / sizeof(T), value),
        count_(count) {}
  T* data() { return all_.data() + margin_bytes / sizeof(T); }
  T& operator[](int i) { return data()[i]; }
  emu::global_array array() {
    return {data(), static_cast<std::size_t>(count_) * sizeof(T), margin_bytes};
  }

 private:
  static constexpr std::size_t margin_bytes = 4096;
  std::vector<T> all_;
  int count_;
};

/// D (m, n) in f32 = A (m, k) * B (k, n), dense, bf16.
template <gemv_config C>
void expect_clean_and_right(int m, int n, int k, std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  auto const fill = [&](int count) {
    with_margins<std::uint16_t> x(count, 0xFFFF);
    for (int i = 0; i < count; ++i) x[i] = to_bf16(static_cast<float>(random() % 255) - 127).bits;
    return x;
  };
  with_margins<std::uint16_t> a = fill(m * k), b = fill(n * k);
  with_margins<float> d(m * n, NAN);
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
  o.arrays = {a.array(), b.array(), d.array()};
  for (emu::global_array& x : o.arrays) {  // a line less than the kernel reads: reported
    std::size_t const all = x.bytes, line = x.begin == d.data() ? 4U * n : 2U * k;
    x.bytes -= line;
    emu::report const beyond = emu::run(gemv<C>{}, 2, p, o);
    EXPECT_TRUE(beyond.has("E0052")) << beyond.text();
    x.bytes = all;
    std::fill_n(d.data(), m * n, NAN);
  }
  emu::report const r = emu::run(gemv<C>{}, 2, p, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.plain_stores, 0);
  for (int i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int x = 0; x < k; ++x)
      sum += static_cast<double>(to_float(bf16{a[i / n * k + x]})) *
             static_cast<double>(to_float(bf16{b[i % n * k + x]}));
    EXPECT_EQ(d[i], sum) << i / n << ", " << i % n;
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
