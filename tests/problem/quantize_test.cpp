// SPDX-License-Identifier: Apache-2.0
// quantize_test.cpp  Quantised matrices against a plain reference: every value of bf16 and f16, and
//                    random float32, in every scaling.
#include "tilewright/problem/quantize.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw {
namespace {

/// All numbers of a type in ascending order of their codes' magnitudes, found by widening.
double value_of(elem type, int code) {
  auto const byte = static_cast<std::uint8_t>(code);
  return load_element({type, order::row_major, 1}, &byte, 0, 0);
}

/// The code whose number is nearest to y, of two the even one; by trying all.
int nearest_code(elem type, double y) {
  int best = -1;
  for (int code = 0; code < 256; ++code) {
    double const x = value_of(type, code);
    if (!std::isfinite(x) || (type == elem::s8 && x == -128)) continue;
    if (std::signbit(x) != std::signbit(y) && !(type == elem::s8 && x == 0)) continue;
    double const d = std::fabs(x - y),
                 was = best < 0 ? HUGE_VAL : std::fabs(value_of(type, best) - y);
    if (d < was || (d == was && code % 2 == 0)) best = code;
  }
  return best;
}

struct request {
  elem from, to;
  scaling kind;
  bool power_of_two;
  elem scale_type = elem::f32;
  order from_order = order::row_major, to_order = order::row_major;
};

/// Compares with the definition in float64; every `step`-th value.
void expect_as_defined(request const& r, std::int64_t outer, std::int64_t k,
                       std::vector<std::byte> const& from, int step) {
  auto const pitch = [&](order o) { return o == order::row_major ? k : outer; };
  quantize_problem p{outer,
                     k,
                     {r.from, r.from_order, pitch(r.from_order)},
                     {r.to, r.to_order, pitch(r.to_order)},
                     {},
                     r.power_of_two};
  p.scale = make_scale({false, outer, k}, r.kind, scale_library::torch, r.scale_type);
  std::vector<std::uint8_t> to(static_cast<std::size_t>(outer * k));
  std::vector<std::byte> scales(
      static_cast<std::size_t>(scale_extent(p.scale, outer, k) * size_bytes(r.scale_type)));
  quantize_counts const counts = quantize(p, from.data(), to.data(), scales.data());
  double const limit = r.to == elem::e4m3 ? 448 : r.to == elem::e5m2 ? 57344 : 127;
  std::int64_t const bo = p.scale.block_outer == 0 ? outer : p.scale.block_outer;
  std::int64_t const bk = p.scale.block_k == 0 ? k : p.scale.block_k;
  quantize_counts seen;
  int turn = 0;
  for (std::int64_t i0 = 0; i0 < outer; i0 += bo)
    for (std::int64_t k0 = 0; k0 < k; k0 += bk) {
      auto const each = [&](auto&& call) {
        for (std::int64_t i = i0; i < std::min(outer, i0 + bo); ++i)
          for (std::int64_t j = k0; j < std::min(k, k0 + bk); ++j)
            call(load_element(p.from, from.data(), i, j), load_element(p.to, to.data(), i, j));
      };
      double amax = 0;
      each([&](double x, double) {
        seen.nan += std::isnan(x), seen.infinite += std::isinf(x);
        if (std::isfinite(x)) amax = std::max(amax, std::fabs(x));
      });
      seen.zero_blocks += amax == 0;
      double want = amax == 0 ? 1 : static_cast<float>(amax / limit);
      if (r.power_of_two && amax != 0) want = std::exp2(std::ceil(std::log2(want)));
      want = std::max(want, 0x1p-126);
      double const scale = load_element({r.scale_type, order::row_major, 1}, scales.data(), 0,
                                        scale_offset(p.scale, i0, k0));
      ASSERT_EQ(scale, want) << "amax " << amax;
      each([&](double x, double got) {
        if (std::isnan(x)) {
          EXPECT_TRUE(r.to == elem::s8 ? got == 0 : std::isnan(got));
          return;
        }
        ASSERT_LE(std::fabs(got), limit);
        if (turn++ % step != 0) return;
        double const y = std::isinf(x) ? std::copysign(limit, x) : static_cast<float>(x / scale);
        ASSERT_EQ(got, value_of(r.to, nearest_code(r.to, y))) << x << " / " << scale;
      });
    }
  EXPECT_EQ(counts.nan, seen.nan);
  EXPECT_EQ(counts.infinite, seen.infinite);
  EXPECT_EQ(counts.zero_blocks, seen.zero_blocks);
}

constexpr scaling kinds[] = {scaling::tensor, scaling::row, scaling::block_1x128,
                             scaling::block_128x128};

TEST(Quantize, EveryValueOf16BitsAsDefined) {
  for (elem const from : {elem::bf16, elem::f16}) {
    std::vector<std::uint16_t> all(65536);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
    std::vector<std::byte> bytes(all.size() * 2);
    std::memcpy(bytes.data(), all.data(), bytes.size());
    for (elem const to : {elem::e4m3, elem::e5m2, elem::s8})
      for (scaling const kind : kinds)
        for (bool const power : {false, true}) {
          SCOPED_TRACE(testing::Message()
                       << name(from) << " " << name(to) << " " << name(kind) << " " << power);
          // 360 is not a multiple of 128: the last blocks are narrower. Consecutive codes are near.
          std::int64_t const k = kind == scaling::tensor ? 256 : 360;
          expect_as_defined({from, to, kind, power}, 65536 / k, k, bytes,
                            kind == scaling::block_1x128 ? 11 : 43);
        }
  }
}

TEST(Quantize, RandomFloatsAsDefinedInEveryOrder) {
  std::mt19937 g(33);
  for (int round = 0; round < 60; ++round) {
    auto const below = [&](int n) { return static_cast<int>(g() % static_cast<unsigned>(n)); };
    std::int64_t const outer = 1 + below(300), k = 1 + below(400);
    std::vector<float> x(static_cast<std::size_t>(outer * k));
    int const spread = 1 + below(60);
    std::normal_distribution<float> normal;
    for (float& v : x) {
      v = std::ldexp(normal(g), below(spread) - spread / 2);
      if (below(50) == 0) v = 0;
      if (below(200) == 0) v = std::ldexp(normal(g), -140);
      if (below(1000) == 0) v = below(2) == 0 ? HUGE_VALF : -HUGE_VALF;
      if (below(1000) == 0) v = NAN;
    }
    if (below(8) == 0) std::fill(x.begin(), x.end(), below(2) == 0 ? 0.0F : 0x1p-140F);
    std::vector<std::byte> bytes(x.size() * 4);
    std::memcpy(bytes.data(), x.data(), bytes.size());
    request r{elem::f32, std::array{elem::e4m3, elem::e5m2, elem::s8}[below(3)], kinds[below(4)],
              below(2) == 0};
    if (below(2) == 0) r.from_order = order::col_major;
    if (below(2) == 0) r.to_order = order::col_major;
    bool const blocks = r.kind == scaling::block_1x128 || r.kind == scaling::block_128x128;
    if (blocks && r.power_of_two && below(2) == 0) r.scale_type = elem::ue8m0;
    SCOPED_TRACE(testing::Message() << "round " << round << " " << name(r.to) << " " << name(r.kind)
                                    << " " << outer << "x" << k);
    expect_as_defined(r, outer, k, bytes, 7);
  }
}

TEST(Quantize, RefusesTypesThatItCannotConvert) {
  quantize_problem p{4, 4, {elem::f32, order::row_major, 4}, {elem::e4m3, order::row_major, 4}, {}};
  EXPECT_FALSE(accept(p));
  auto const code = [&](auto change) {
    quantize_problem q = p;
    change(q);
    auto const why = accept(q);
    return why ? why->code : "";
  };
  EXPECT_EQ(code([](auto& q) { q.from.type = elem::e4m3; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.to.type = elem::bf16; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.type = elem::f16; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.type = elem::ue8m0; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.to.pitch_elems = 3; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.k = 0; }), "TW0452");
}

/// Members that another description has are refused, not ignored.
TEST(Quantize, RefusesScalesThatItDoesNotCompute) {
  quantize_problem const p{4,
                           256,
                           {elem::f32, order::row_major, 256},
                           {elem::e4m3, order::row_major, 256},
                           {.block_outer = 1, .block_k = 128, .stride_outer = 2, .stride_k = 1}};
  auto const code = [&](auto change) {
    quantize_problem q = p;
    change(q);
    auto const why = accept(q);
    return why ? why->code : "";
  };
  EXPECT_EQ(code([](auto&) {}), "");
  EXPECT_EQ(code([](auto& q) { q.scale.tiled = true; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.second_level = true; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.block_outer = -1; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.block_k = -128; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.packed_k = 4; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.stride_outer = 0; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale.stride_k = -1; }), "TW0452");
  EXPECT_EQ(code([](auto& q) { q.scale = {}, q.given = true; }), "");
  EXPECT_EQ(code([](auto& q) { q.scale = {}, q.given = q.power_of_two = true; }), "TW0452");
}

/// Floats with any exponent, infinities and NaN.
float any_float(std::mt19937_64& rng) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(rng()));
}

TEST(ScaleDivisor, HasTheCodesOfADivision) {
  std::mt19937_64 rng(20261125);
  for (int i = 0; i < 400000; ++i) {
    float const scale = any_float(rng);
    float const near = scale * (1 + static_cast<float>(rng() % 4096) / 8);
    float const x = i % 3 == 0 ? any_float(rng) : i % 3 == 1 ? near : -near;
    float const y = scale_divisor(scale).divide(x);
    auto const same = [&](int got, int want) {
      bool const nan = std::isnan(x / scale);  // its sign is not defined
      ASSERT_TRUE(got == want || (nan && (got & 0x7F) == (want & 0x7F)))
          << x << " / " << scale << ": " << got << ", not " << want;
    };
    same(quantized_quotient<e4m3>(y).bits, quantized<e4m3>(x, scale).bits);
    same(quantized_quotient<e5m2>(y).bits, quantized<e5m2>(x, scale).bits);
    same(quantized_quotient<std::int8_t>(y), quantized<std::int8_t>(x, scale));
    if (HasFatalFailure()) return;
    if (std::fabs(x / scale) > 0x1p-20F && std::fabs(x / scale) < 0x1p20F) {
      ASSERT_EQ(y, x / scale) << x << " / " << scale;
    }
  }
}

/// Quotients next to the middle between two codes, where one wrong bit of the division shows.
TEST(ScaleDivisor, HasTheBitsOfADivisionNextToTies) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 400000; ++i) {
    float const scale = std::ldexp(static_cast<float>((1U << 23) + (rng() & 0x7FFFFF)), -30);
    float const middle = 1 + static_cast<float>(2 * (rng() % 8) + 1) / 16;
    std::uint32_t const bits = __builtin_bit_cast(std::uint32_t, scale * middle);
    float const x = float_of_bits(bits + static_cast<std::uint32_t>(rng() % 3) - 1);
    ASSERT_EQ(scale_divisor(scale).divide(x), x / scale) << x << " / " << scale;
  }
}

TEST(ScaleDivisor, SmallNumbersHaveTheBitsOfADivision) {
  std::mt19937_64 rng(20261127);
  auto const check = [](float x, float scale) {
    scale_divisor const by(scale);
    ASSERT_TRUE(by.is_near_one()) << scale;
    float const want = x / scale, got = by.divide_small(x);
    if (std::fabs(want) > 0x1p-20F)
      ASSERT_EQ(got, want) << x << " / " << scale;
    else  // underflows to a zero, in 8 bits
      ASSERT_EQ(quantized_quotient<e5m2>(got).bits, quantized<e5m2>(x, scale).bits) << x;
  };
  for (int i = 0; i < 400000; ++i) {
    float const scale = std::ldexp(static_cast<float>((1U << 23) + (rng() & 0x7FFFFF)),
                                   static_cast<int>(rng() % 120) - 83);
    float const x = std::ldexp(static_cast<float>((1U << 23) + (rng() & 0x7FFFFF)) * scale,
                               static_cast<int>(rng() % 64) - 68);
    ASSERT_NO_FATAL_FAILURE(check(i % 2 != 0 ? x : -x, scale));
  }
  for (float const zero : {0.0F, -0.0F})
    EXPECT_EQ(std::signbit(scale_divisor(3.0F).divide_small(zero)), std::signbit(zero));
  EXPECT_TRUE(std::isnan(scale_divisor(3.0F).divide_small(NAN)));
  EXPECT_FALSE(scale_divisor(0x1p-70F).is_near_one());
  EXPECT_FALSE(scale_divisor(-1.0F).is_near_one());
  EXPECT_FALSE(scale_divisor(NAN).is_near_one());
}

/// All quotients x / s of 24-bit significands that lie so near to the middle between two floats
/// that the correction could choose the wrong one. The middle is k / 2^shift, k odd and of 25 bits,
/// and x 2^shift = k s - part with a part of at most 5, which the powers of two in s divide.
TEST(ScaleDivisor, HasTheBitsOfADivisionInAllOfItsHardestCases) {
  std::int64_t cases = 0, wrong = 0;
  for (std::uint64_t s = 1U << 23; s < 1U << 24; ++s) {
    int const twos = std::countr_zero(s);
    if (twos > 2) continue;
    std::uint64_t const odd = s >> twos;
    std::uint64_t inverse = odd;  // modulo 2^64: each step doubles the bits that are right
    for (int step = 0; step < 5; ++step) inverse *= 2 - odd * inverse;
    for (int const shift : {24, 25})
      for (std::int64_t const part : {1, -1, 3, -3, 5, -5}) {
        if (twos > 0 && part * part > 1) continue;
        std::uint64_t const modulus = std::uint64_t{1} << (shift - twos);
        std::uint64_t k = static_cast<std::uint64_t>(part) * inverse % modulus;
        for (; k < 1U << 25; k += modulus) {
          if (k < 1U << 24) continue;
          std::uint64_t const product = k * s - static_cast<std::uint64_t>(part * (1 << twos));
          std::uint64_t const x = product >> shift;
          if (x << shift != product || x < 1U << 23 || x >= 1U << 24) continue;
          scale_divisor const by(static_cast<float>(s));
          float const number = static_cast<float>(x), want = number / static_cast<float>(s);
          ++cases;
          wrong += by.divide(number) != want || by.divide_small(number) != want;
        }
      }
  }
  EXPECT_GT(cases, 20000000);
  EXPECT_EQ(wrong, 0);
}

TEST(Quantize, AGivenScaleIsReadAndKept) {
  std::array<float, 6> const x{0.5F, -3, 1e30F, INFINITY, 0, 448};
  std::array<std::uint8_t, 6> got{};
  float scale = 0.75F;
  quantize_problem const p{.outer = 2,
                           .k = 3,
                           .from = {elem::f32, order::row_major, 3},
                           .to = {elem::e4m3, order::row_major, 3},
                           .scale = {},
                           .given = true};
  quantize(p, x.data(), got.data(), &scale);
  EXPECT_EQ(scale, 0.75F);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(got[i], quantized<e4m3>(x[i], 0.75F).bits) << i;
  quantize_problem rows = p;
  rows.scale.block_outer = 1;
  ASSERT_TRUE(accept(rows));
  EXPECT_EQ(accept(rows)->code, "TW0452");
}

}  // namespace
}  // namespace tw
