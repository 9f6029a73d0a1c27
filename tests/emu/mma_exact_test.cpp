// SPDX-License-Identifier: Apache-2.0
// mma_exact_test.cpp  The exact sums of mma.sync against the rule of base/accumulator_bits.hpp,
//                     written a second time (sum_model.hpp).
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "tests/emu/sum_model.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/accumulator_bits.hpp"

namespace tw::test {
namespace {

constexpr int m = 16, n = 8;

/// D (16, 8) = A (16, K) B (K, 8) + D, of row-major A, column-major B and row-major D in global
/// memory: bits of f16, and of f16 or float32 for D.
struct operands {
  std::uint16_t a[m][16], b[n][16];
  float d[m][n];
};

template <int K, bool HalfSums>
struct one_multiply {
  using params = operands*;
  static constexpr int threads = 32, cluster = 1, smem_bytes = 0;

  TW_DEVICE static std::uint32_t two(std::uint16_t const* from) {
    return from[0] | std::uint32_t{from[1]} << 16;
  }
  TW_DEVICE static void run(params const& p) {
    int const row = lane_id() / 4, col = 2 * (lane_id() % 4);
    b32<K / 4> a;
    b32<K / 8> b;
    for (int i = 0; i < K / 4; ++i) a.r[i] = two(&p->a[row + i % 2 * 8][col + i / 2 * 8]);
    for (int i = 0; i < K / 8; ++i) b.r[i] = two(&p->b[row][col + i * 8]);
    float d[4];
    for (int i = 0; i < 4; ++i) d[i] = p->d[row + i / 2 * 8][col + i % 2];
    if constexpr (HalfSums) {
      b32<2> halves;
      for (int i = 0; i < 2; ++i)
        halves.r[i] = to_f16(d[2 * i]).bits | std::uint32_t{to_f16(d[2 * i + 1]).bits} << 16;
      mma_sync<elem::f16>(halves, a, b);
      for (int i = 0; i < 4; ++i)
        d[i] = to_float(f16{static_cast<std::uint16_t>(halves.r[i / 2] >> 16 * (i % 2))});
    } else {
      mma_sync<elem::f16>(d, a, b);
    }
    for (int i = 0; i < 4; ++i) p->d[row + i / 2 * 8][col + i % 2] = d[i];
  }
};

/// The bits of D(row, col), by the rule of a wgmma with f16 operands.
std::uint32_t expected(operands const& p, int k, elem sums, int row, int col) {
  std::vector<number> terms;
  for (int i = 0; i < k; ++i) {
    number const a = number_of(elem::f16, p.a[row][i]), b = number_of(elem::f16, p.b[col][i]);
    terms.push_back({a.value * b.value, a.exponent + b.exponent});
  }
  float const in = p.d[row][col];
  number const c = sums == elem::f16 ? number_of(sums, to_f16(in).bits)
                                     : number{in, in == 0 ? -126 : std::ilogb(in)};
  return model(terms, c, accumulator_rule_of(elem::f16, sums).kept_bits, sums);
}

template <int K, bool HalfSums>
void expect_the_rule() {
  constexpr elem sums = HalfSums ? elem::f16 : elem::f32;
  std::mt19937_64 rng(20261127);
  emu::options exact;
  exact.exact_sums = true;
  int inexact = 0;
  for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) {
    operands p{};
    // Magnitudes that are far apart, subnormal numbers and zeros among them.
    auto const draw = [&] {
      float const x = std::ldexp(1.0F + static_cast<float>(rng() % 1024) / 1024,
                                 static_cast<int>(rng() % 26) - 20);
      return rng() % 9 == 0 ? 0.0F : rng() % 2 == 0 ? x : -x;
    };
    for (auto& row : p.a)
      for (auto& x : row) x = to_f16(draw()).bits;
    for (auto& column : p.b)
      for (auto& x : column) x = to_f16(draw()).bits;
    for (auto& row : p.d)
      for (auto& x : row) x = HalfSums ? draw() : draw() / 3;  // in float all bits of the fraction
    operands const before = p;
    ASSERT_TRUE(emu::run(one_multiply<K, HalfSums>{}, 1, &p, exact).clean());
    operands fast = before;
    ASSERT_TRUE(emu::run(one_multiply<K, HalfSums>{}, 1, &fast).clean());
    for (int row = 0; row < m; ++row)
      for (int col = 0; col < n; ++col) {
        float const got = p.d[row][col];
        std::uint32_t const want = expected(before, K, sums, row, col);
        ASSERT_EQ(HalfSums ? to_f16(got).bits : __builtin_bit_cast(std::uint32_t, got), want)
            << i << ": " << row << " " << col;
        inexact += fast.d[row][col] != p.d[row][col];
      }
  }
  EXPECT_GT(inexact, HalfSums ? 0 : 1000);  // the two arithmetics differ
}

TEST(MmaExact, SixteenTermsInFloat) { expect_the_rule<16, false>(); }
TEST(MmaExact, EightTermsInFloat) { expect_the_rule<8, false>(); }
TEST(MmaExact, SixteenTermsInHalf) { expect_the_rule<16, true>(); }

}  // namespace
}  // namespace tw::test
