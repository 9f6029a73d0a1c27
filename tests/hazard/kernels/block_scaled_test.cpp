// SPDX-License-Identifier: Apache-2.0
// block_scaled_test.cpp  The block-scaled GEMM of every format, for one CTA and a CTA pair: the
//                        float64 sum of (a fa)(b fb), rounded once, and no report, whenever its
//                        asynchronous operations complete.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/hazard/hazard_kernels.hpp"
#include "tests/hazard/kernels/block_scaled_data.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/block_scaled_bind.hpp"
#include "tilewright/problem/block_quantize.hpp"

namespace tw::test {
namespace {

struct size {
  int m, n, k, pitch = 0;
};
/// s.pitch: of D; 0: rounded up to 16 bytes.
template <block_scaled_config C>
emu::report run(size const& s, emu::options const& o, int clusters) {
  using kernel = block_scaled_sm100<C>;
  using element = std::conditional_t<C.d == elem::f32, float, bf16>;
  std::mt19937 random(static_cast<unsigned>(s.m + s.n + s.k));
  operand_data a(C, C.a, s.m, s.k, random), b(C, C.b, s.n, s.k, random);
  int const pitch = s.pitch != 0 ? s.pitch : up(s.n, 16 / static_cast<int>(sizeof(element)));
  std::vector<element> d(static_cast<std::size_t>(s.m * pitch));
  second_level_scale const second =
      C.nvfp4() ? second_level_scale(0.5F, 0.25F) : second_level_scale::none();
  block_scaled_params const p =
      bind<C>({s.m, s.n, s.k, a.first(), b.first(), a.pitch_bytes, b.pitch_bytes, a.first_factor(),
               b.first_factor(), second, d.data(), pitch, 2.0F},
              target::emu);
  emu::report r = emu::run(kernel{}, clusters * C.ctas, p, o);
  if (!r.clean()) return r;
  std::vector<double> const x = a.scaled(s.k, C.block), y = b.scaled(s.k, C.block);
  int wrong = 0;
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.n; ++j) {
      double const* const of_a = &x[static_cast<std::size_t>(i * s.k)];
      double const* const of_b = &y[static_cast<std::size_t>(j * s.k)];
      double const sum = std::inner_product(of_a, of_a + s.k, of_b, 0.0);
      auto const expected =
          from_float<element>(static_cast<float>(2 * sum * (C.nvfp4() ? 0.125 : 1)));
      element const got = d[static_cast<std::size_t>(i * pitch + j)];
      if (got != expected && ++wrong <= 3)
        ADD_FAILURE() << i << ", " << j << ": " << to_float(got) << ", not " << to_float(expected);
    }
  return r;
}

class BlockScaled : public testing::TestWithParam<int> {
 protected:
  template <block_scaled_config C>
  void check(size const& s, int clusters) {
    SCOPED_TRACE(testing::Message() << s.m << " x " << s.n << " x " << s.k);
    emu::report const r = run<C>(s, scheduled(GetParam()), clusters);
    EXPECT_TRUE(r.clean()) << r.text();
    EXPECT_GT(r.counts.tmem_copies, 0);
  }
};

constexpr block_scaled_config mxfp8{
    .a = elem::e4m3, .b = elem::e5m2, .scale = elem::ue8m0, .block = 32, .stages = 2};
constexpr block_scaled_config mxfp4{.scale = elem::ue8m0, .block = 32, .d = elem::f32, .stages = 2};

TEST_P(BlockScaled, Mxfp8) {
  check<mxfp8>({256, 256, 192}, 1);  // four tiles: each accumulator twice
  check<mxfp8>({136, 100, 96}, 1);
  check<mxfp8>({130, 51, 32, 51}, 1);  // TMA cannot address D
}

TEST_P(BlockScaled, PaddedElements) {
  check<block_scaled_config{.a = elem::e2m3,
                            .b = elem::e2m1,
                            .scale = elem::ue8m0,
                            .block = 32,
                            .tile_n = 64,
                            .stages = 2}>({128, 160, 288}, 1);
}

TEST_P(BlockScaled, Mxfp4) {
  constexpr block_scaled_config pair = [] {
    block_scaled_config c = mxfp4;
    c.ctas = 2;
    c.tile_n = 192;
    return c;
  }();
  check<pair>({260, 199, 544}, 1);
}

TEST_P(BlockScaled, Nvfp4) {
  check<block_scaled_config{.d = elem::f32, .stages = 2}>({136, 132, 528}, 1);
  check<block_scaled_config{.ctas = 2, .tile_n = 256, .stages = 2}>({257, 200, 560}, 1);
}

/// The kernel reads the bytes that quantize() writes.
TEST(BlockScaledNumbers, ComeFromQuantize) {
  constexpr block_scaled_config c{.d = elem::f32, .tile_n = 64, .stages = 2};
  constexpr int m = 130, n = 70, k = 288;
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  struct quantized {
    std::vector<float> wide;
    std::vector<std::uint64_t> values, factors;
    float second;
  };
  auto const make = [&](int rows) {
    quantized q{std::vector<float>(static_cast<std::size_t>(rows * k)), {}, {}, 1.0F};
    for (float& x : q.wide) x = normal(random);
    block_quantize_problem const p{rows, k, {elem::f32, order::row_major, k}, block_format::nvfp4};
    q.values.resize(static_cast<std::size_t>(rows * k / 2 / 8));
    q.factors.resize(static_cast<std::size_t>(p.factor_bytes() / 8));
    q.second = quantize(p, q.wide.data(), q.values.data(), q.factors.data()).second_level;
    return q;
  };
  quantized const a = make(m), b = make(n);
  std::vector<float> d(m * n);
  block_scaled_params const p =
      bind<c>({m, n, k, a.values.data(), b.values.data(), k / 2, k / 2, a.factors.data(),
               b.factors.data(), second_level_scale(a.second, b.second), d.data(), n},
              target::emu);
  emu::report const r = emu::run(block_scaled_sm100<c>{}, 1, p, scheduled(1));
  ASSERT_TRUE(r.clean()) << r.text();
  double error = 0, all = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double const sum = std::inner_product(&a.wide[static_cast<std::size_t>(i * k)],
                                            &a.wide[static_cast<std::size_t>(i * k)] + k,
                                            &b.wide[static_cast<std::size_t>(j * k)], 0.0);
      double const off = static_cast<double>(d[static_cast<std::size_t>(i * n + j)]) - sum;
      error += off * off;
      all += sum * sum;
    }
  // An element of 4 bits is off by about a tenth; a wrong factor, by more than its own size.
  EXPECT_LT(error / all, 0.03);
  EXPECT_GT(error / all, 0.001);
}

INSTANTIATE_TEST_SUITE_P(Schedules, BlockScaled, testing::Range(0, 3));

}  // namespace
}  // namespace tw::test
