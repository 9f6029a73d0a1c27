// SPDX-License-Identifier: Apache-2.0
// blackwell_test.cpp  The rungs with tcgen05 and the article's FP8 GEMM: right under every kind of
//                     schedule, without a diagnosis.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ladder/blackwell/cta_pair.hpp"
#include "ladder/blackwell/fp8.hpp"
#include "ladder/blackwell/one_cta.hpp"

namespace ladder {
namespace {

emu::options schedule(int i) {
  emu::options o;
  o.policy = static_cast<emu::async_policy>(i % 3);
  o.random_warps = i >= 3;
  o.seed = static_cast<std::uint64_t>(i);
  return o;
}

/// Small integers, whose sums are exact.
template <class T, class Round>
std::vector<T> integers(int count, unsigned seed, Round round) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& e : x) e = round(static_cast<float>(random() % 9) - 4);
  return x;
}

/// The element of D = A B^T in float64.
template <class T>
double sum_at(std::vector<T> const& a, std::vector<T> const& b, int k, int row, int column) {
  double sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<double>(to_float(a[static_cast<std::size_t>(row * k + i)])) *
           static_cast<double>(to_float(b[static_cast<std::size_t>(column * k + i)]));
  return sum;
}

class BlackwellExamples : public testing::TestWithParam<int> {
 protected:
  template <class Rung>
  void check(int m, int n, int k) {
    auto const round = [](float x) { return to_bf16(x); };
    std::vector<bf16> const a = integers<bf16>(m * k, 1, round),
                            b = integers<bf16>(n * k, 2, round);
    std::vector<bf16> d(static_cast<std::size_t>(m * n));
    problem const x{a.data(), b.data(), d.data(), m, n, k, k, k, n, 2, target::emu};
    emu::report const r = emu::run(Rung{}, Rung::ctas(x), Rung::params_of(x), schedule(GetParam()));
    EXPECT_TRUE(r.clean()) << r.text();
    int wrong = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        wrong += d[static_cast<std::size_t>(i * n + j)].bits !=
                 to_bf16(static_cast<float>(sum_at(a, b, k, i, j))).bits;
    EXPECT_EQ(wrong, 0);
  }
};

TEST_P(BlackwellExamples, OneCta) { check<rung_13>(128, 512, 320); }
TEST_P(BlackwellExamples, CtaPair) { check<rung_14>(256, 256, 448); }

TEST_P(BlackwellExamples, TheArticlesFp8Gemm) {
  using blackwell::fp8_gemm;
  int const m = 128, n = 128, k = 768;  // stages are used again
  auto const round = [](float x) { return to_e4m3(x, saturation::none); };
  std::vector<e4m3> const a = integers<e4m3>(m * k, 3, round), b = integers<e4m3>(n * k, 4, round);
  std::vector<float> d(static_cast<std::size_t>(m * n));
  auto const map = [&](e4m3 const* base, int rows) {
    tensor_map_desc t;
    t.base = const_cast<e4m3*>(base);
    t.type = elem::e4m3;
    t.dim[0] = k, t.dim[1] = rows;
    t.stride_bytes[0] = k;
    t.box[0] = fp8_gemm::bk, t.box[1] = 128;
    t.swizzle = swizzle_mode::b128;
    return make_tensor_map(t, target::emu);
  };
  emu::report const r =
      emu::run(fp8_gemm{}, m / fp8_gemm::bm * (n / fp8_gemm::bn),
               {map(a.data(), m), map(b.data(), n), d.data(), m, n, k}, schedule(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      wrong += static_cast<double>(d[static_cast<std::size_t>(i * n + j)]) != sum_at(a, b, k, i, j);
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Schedules, BlackwellExamples, testing::Range(0, 4));

}  // namespace
}  // namespace ladder
