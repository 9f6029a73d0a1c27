// SPDX-License-Identifier: Apache-2.0
// weight_block_test.cpp  Prepared 4-bit weights: the order is the layout, and preparing can be
//                        undone.
#include "tilewright/atom/weight_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/layout/evaluate.hpp"
#include "tilewright/layout/print.hpp"

namespace {

using namespace tw;

/// The place of an element of a block by the table of wgmma's A fragment in the PTX ISA: thread
/// and register, then nibbles i and i + 4 of the thread's word for each 16 elements of K.
i64 weight_nibble_of_fragment(int n, int k) {
  int const warp = n / 16, row = n % 16, step = k / 16, column = k % 16;
  int const lane = row % 8 * 4 + column % 8 / 2;
  int const reg = row / 8 + 2 * (column / 8), half = column % 2;
  return (32 * warp + lane) * 32 + step * 8 + reg + 4 * half;
}

TEST(WeightBlock, AThreadsNibblesAreItsFragment) {
  layout const l = weight_nibbles(1, 1, 2176);
  std::set<i64> places;
  for (int n = 0; n < 64; ++n)
    for (int k = 0; k < 64; ++k) {
      ASSERT_EQ(l(make_coord(n, k)), weight_nibble_of_fragment(n, k)) << n << ", " << k;
      places.insert(l(make_coord(n, k)));
    }
  EXPECT_EQ(places.size(), 4096U);
  EXPECT_EQ(*places.rbegin(), 4095);
}

TEST(WeightBlock, ScalesOfAThreadsTwoRowsAreAdjacent) {
  for (int const scales : {1, 2, 4}) {
    layout const l = weight_scales(scales);
    for (int n = 0; n < 64; ++n)
      for (int k = 0; k < 64; ++k) {
        int const thread = n / 16 * 8 + n % 8, row = n % 16 / 8;
        ASSERT_EQ(l(make_coord(n, k)), (thread * 2 + row) * scales + k * scales / 64);
      }
  }
}

TEST(WeightBlock, ExpressionsHaveThem) {
  EXPECT_EQ(evaluate("weight_nibbles(128,64,2176)").res,
            "((8,2,4,2),(2,4,2,4,1)):((128,1,1024,4352),(4,32,2,8,4352))");
  EXPECT_EQ(evaluate("weight_scales(2)").res, "((8,2,4),(32,2)):((4,2,32),(0,1))");
  EXPECT_THROW(evaluate("weight_nibbles(0,64,2176)"), rejected);
}

/// Random rows of weights, and the same prepared.
struct weights_sample {
  weights_desc w;
  std::vector<std::uint8_t> nibbles, scales, zeros;
  std::vector<std::uint8_t> prepared;
  weight_counts counts;

  weights_sample(weight_format f, std::int64_t n, std::int64_t k, std::int64_t matrices,
                 unsigned seed, int largest_scale = 200) {
    w = {n, k, matrices, f};
    std::mt19937 random(seed);
    auto const count = static_cast<std::size_t>(matrices * n * w.groups());
    nibbles.resize(static_cast<std::size_t>(matrices * n * k / 2));
    for (auto& x : nibbles) x = static_cast<std::uint8_t>(random());
    scales.resize(count * static_cast<std::size_t>(size_bytes(f.scale)));
    for (std::size_t i = 0; i < scales.size(); ++i)
      scales[i] = static_cast<std::uint8_t>(
          f.scale == elem::ue8m0 ? (random() % 9 == 0 ? 255 : largest_scale - 100 + random() % 101)
          : f.scale == elem::ue4m3 ? random() % 128
                                   : random() % 0x78);  // below 2^115
    zeros.resize(count * static_cast<std::size_t>(f.zero_bytes_each()));
    for (auto& x : zeros)
      x = static_cast<std::uint8_t>(f.zeros == weight_zeros::integers ? random() % 17
                                                                      : random() % 0x7C);
    prepared.resize(static_cast<std::size_t>(w.bytes()));
    counts =
        prepare_weights(w, {nibbles.data(), scales.data(), zeros.data(), f.scale}, prepared.data());
  }
};

std::vector<weight_format> weight_formats() {
  std::vector<weight_format> all = {{weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32},
                                    {weight_code::nvfp4, elem::ue4m3, weight_zeros::none, 16}};
  for (elem const scale : {elem::bf16, elem::f16})
    for (auto const zeros : {weight_zeros::none, weight_zeros::integers, weight_zeros::floats})
      for (int const group : {16, 32, 64, 128, 0})
        all.push_back({weight_code::int4, scale, zeros, group});
  for (auto const zeros : {weight_zeros::none, weight_zeros::integers})
    for (int const group : {128, 0})
      all.push_back({weight_code::int4, elem::f32, zeros, group, true});
  return all;
}

TEST(Weights, UnprepareIsTheInverseOfPrepare) {
  unsigned seed = 1;
  for (weight_format const& f : weight_formats())
    for (auto const& [n, k, matrices] : {std::tuple{1, 128, 1}, {70, 256, 3}, {200, 384, 1}}) {
      weights_sample const s(f, n, k, matrices, ++seed);
      ASSERT_EQ(read_weights_header(std::as_bytes(std::span(s.prepared))), s.w) << text_of(f);
      std::vector<std::uint8_t> nibbles(s.nibbles.size()), scales(s.scales.size()),
          zeros(s.zeros.size());
      unprepare_weights(s.w, s.prepared.data(), {nibbles.data(), scales.data(), zeros.data()});
      ASSERT_EQ(nibbles, s.nibbles) << text_of(f);
      ASSERT_EQ(scales, s.scales) << text_of(f);
      ASSERT_EQ(zeros, s.zeros) << text_of(f);
      ASSERT_EQ(s.counts.rounded, 0);
    }
}

/// Rows for a gate: 8 gate rows, then the 8 rows that they multiply, and back.
TEST(Weights, GateRowsAreEightApart) {
  unsigned seed = 100;
  for (gating const gate : {gating::split, gating::interleaved})
    for (weight_format f : weight_formats()) {
      f.gate = gate;
      weights_sample const s(f, 96, 256, 2, ++seed);
      ASSERT_EQ(read_weights_header(std::as_bytes(std::span(s.prepared))), s.w) << text_of(f);
      std::vector<bool> taken(96, false);
      for (std::int64_t j = 0; j < 48; ++j) {
        bool const split = gate == gating::split;
        std::int64_t const at = s.w.place(split ? j : 2 * j),
                           up = s.w.place(split ? 48 + j : 2 * j + 1);
        EXPECT_EQ(up, at + 8);
        EXPECT_EQ(at / 16 * 8 + at % 16, j);
        taken[static_cast<std::size_t>(at)] = taken[static_cast<std::size_t>(up)] = true;
      }
      EXPECT_EQ(std::ranges::count(taken, false), 0);
      std::vector<std::uint8_t> nibbles(s.nibbles.size()), scales(s.scales.size()),
          zeros(s.zeros.size());
      unprepare_weights(s.w, s.prepared.data(), {nibbles.data(), scales.data(), zeros.data()});
      ASSERT_EQ(nibbles, s.nibbles) << text_of(f);
      ASSERT_EQ(scales, s.scales) << text_of(f);
      ASSERT_EQ(zeros, s.zeros) << text_of(f);
      weight_format none = f;
      none.gate = gating::none;
      weights_sample const plain(none, 96, 256, 2, seed);
      auto const blocks = [](weights_sample const& x) {
        return x.prepared.data() + weights_header_bytes;
      };
      for (std::int64_t n = 0; n < 96; ++n) {
        double const x = weight_at(s.w, blocks(s), 1, n, 77),
                     y = weight_at(plain.w, blocks(plain), 1, n, 77);
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << text_of(f);
      }
    }
  weights_desc odd{72, 64, 1, {weight_code::mxfp4, elem::ue8m0, {}, 32}};
  odd.format.gate = gating::split;
  EXPECT_EQ(accept(odd)->code, "TW0465");
}

TEST(Weights, BytesHaveThePlacesOfTheLayout) {
  weight_format const f{weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32};
  weights_sample const s(f, 150, 192, 1, 7);
  layout const l = weight_nibbles(150, 192, f.block_bytes());
  for (int n = 0; n < 150; ++n)
    for (int k = 0; k < 192; ++k) {
      i64 const at = l(make_coord(n, k));
      unsigned const got =
          s.prepared[static_cast<std::size_t>(weights_header_bytes + at / 2)] >> 4 * (at % 2) & 15U;
      ASSERT_EQ(got, s.nibbles[static_cast<std::size_t>((n * 192 + k) / 2)] >> 4 * (k % 2) & 15U);
    }
}

/// Each weight by the formula of its format, from the rows.
TEST(Weights, WeightAtIsTheFormula) {
  unsigned seed = 100;
  double const e2m1_values[] = {0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6};
  for (weight_format const& f : weight_formats()) {
    weights_sample const s(f, 66, 128, 2, ++seed);
    auto const scalar = [&](std::vector<std::uint8_t> const& from, std::size_t i) {
      if (f.scale == elem::f32) {
        float x = 0;
        std::memcpy(&x, from.data() + 4 * i, 4);
        return static_cast<double>(x);
      }
      std::uint16_t bits;
      std::memcpy(&bits, from.data() + 2 * i, 2);
      return static_cast<double>(f.scale == elem::bf16 ? to_float(bf16{bits})
                                                       : to_float(f16{bits}));
    };
    for (int row = 0; row < 2 * 66; ++row)
      for (int k = 0; k < 128; ++k) {
        auto const g =
            static_cast<std::size_t>(row * s.w.groups() + (f.group == 0 ? 0 : k / f.group));
        unsigned const q =
            s.nibbles[static_cast<std::size_t>((row * 128 + k) / 2)] >> 4 * (k % 2) & 15U;
        double want = 0;
        if (f.code == weight_code::mxfp4)
          want = s.scales[g] == 255 ? NAN : std::ldexp(e2m1_values[q], s.scales[g] - 127);
        else if (f.code == weight_code::nvfp4)
          want = e2m1_values[q] * static_cast<double>(to_float(ue4m3{s.scales[g]}));
        else if (f.zeros == weight_zeros::integers)
          want = (static_cast<int>(q) - s.zeros[g]) * scalar(s.scales, g);
        else
          want = (static_cast<int>(q) - 8) * scalar(s.scales, g) +
                 (f.zeros == weight_zeros::floats ? scalar(s.zeros, g) : 0);
        double const got =
            weight_at(s.w, s.prepared.data() + weights_header_bytes, row / 66, row % 66, k) *
            static_cast<double>(s.w.factor);
        // A sum with a float zero point is rounded to odd.
        bool const near = f.zeros == weight_zeros::floats && std::nextafter(want, got) == got;
        ASSERT_TRUE(got == want || near || (std::isnan(got) && std::isnan(want)))
            << text_of(f) << " row " << row << " k " << k << ": " << got << ", want " << want;
      }
  }
}

TEST(Weights, LargeExponentsAreShifted) {
  weight_format const f{weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32};
  weights_sample const all(f, 64, 256, 1, 3, 254);
  EXPECT_GT(all.w.shift, 0);
  EXPECT_EQ(all.w.factor, std::ldexp(1.0F, all.w.shift));
  weights_sample const usual(f, 64, 256, 1, 3, 128);
  EXPECT_EQ(usual.w.shift, 0);
  std::vector<std::uint8_t> nibbles(32), scales = {0, 254}, to(1 << 20);
  weights_desc w{1, 64, 1, f};
  EXPECT_THROW(static_cast<void>(prepare_weights(
                   w, {nibbles.data(), scales.data(), nullptr, elem::ue8m0}, to.data())),
               rejected);
}

TEST(Weights, ScalesOfAnotherTypeAreRoundedAndCounted) {
  weights_desc w{2, 64, 1, {weight_code::int4, elem::bf16, weight_zeros::none, 32}};
  std::vector<std::uint8_t> nibbles(64), to(static_cast<std::size_t>(w.bytes()));
  std::vector<float> const scales = {1.0F, 1.0F + 0x1p-9F, 0.5F, 3.0F};
  EXPECT_EQ(
      prepare_weights(w, {nibbles.data(), scales.data(), nullptr, elem::f32}, to.data()).rounded,
      1);
}

std::string weights_refusal(auto&& f) try {
  f();
  return "";
} catch (rejected const& e) {
  return std::string(e.why().code);
}

TEST(Weights, OtherFormsAreRefused) {
  weight_format const int4{weight_code::int4, elem::bf16, weight_zeros::none, 128};
  auto const code = [](weights_desc const& w) {
    auto const why = accept(w);
    return why ? std::string(why->code) : std::string();
  };
  EXPECT_EQ(code({8, 256, 1, int4}), "");
  EXPECT_EQ(code({8, 192, 1, int4}), "TW0465");  // 128 does not divide K
  EXPECT_EQ(code({8, 255, 1, {weight_code::int4, elem::bf16, weight_zeros::none, 0}}), "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::int4, elem::f32, weight_zeros::none, 128}}), "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::int4, elem::bf16, weight_zeros::none, 48}}), "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 16}}), "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::nvfp4, elem::ue4m3, weight_zeros::integers, 16}}),
            "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::int4, elem::f32, weight_zeros::integers, 128, true}}),
            "");
  EXPECT_EQ(code({8, 256, 1, {weight_code::int4, elem::f32, weight_zeros::integers, 64, true}}),
            "TW0465");
  EXPECT_EQ(code({8, 256, 1, {weight_code::int4, elem::f32, weight_zeros::floats, 128, true}}),
            "TW0465");
  EXPECT_EQ(code({0, 256, 1, int4}), "TW0465");
}

TEST(Weights, OtherBytesAreRefused) {
  weights_sample s({weight_code::mxfp4, elem::ue8m0, weight_zeros::none, 32}, 64, 64, 1, 5);
  auto const code = [](std::vector<std::uint8_t> const& bytes) {
    return weights_refusal([&] { read_weights_header(std::as_bytes(std::span(bytes))); });
  };
  EXPECT_EQ(code(s.prepared), "");
  EXPECT_EQ(code(std::vector<std::uint8_t>(4096)), "TW0466");
  std::vector<std::uint8_t> other = s.prepared;
  other[8] = 2;  // version
  EXPECT_EQ(code(other), "TW0466");
  other = s.prepared;
  other[12] = 77;  // format
  EXPECT_EQ(code(other), "TW0466");
  other = s.prepared;
  other.pop_back();
  EXPECT_EQ(code(other), "TW0466");
}

}  // namespace
