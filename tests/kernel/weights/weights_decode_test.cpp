// SPDX-License-Identifier: Apache-2.0
// weights_decode_test.cpp  Prepared 4-bit weights as consumers decode them: each nibble with each
//                          scale of each format, in the emulator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm90/check_config.hpp"
#include "tilewright/kernel/sm90/turn_sums.hpp"
#include "tilewright/kernel/sm90/weights_a.hpp"
#include "tilewright/kernel/weights/weights.hpp"

namespace tw::test {
namespace {

constexpr gemm_config decode_config(operand_source from, elem type) {
  return {.a = {type, type, operand_major::k, from},
          .b = {type, type},
          .d = type,
          .d_m = true,
          .tile_m = 64,
          .tile_n = 16,
          .cluster_m = 1,
          .stages = 2};
}

/// Decodes one block as a consumer does, and writes the fragments as a matrix (64, 64).
template <gemm_config C>
struct weights_decode_kernel {
  static constexpr int threads = warpgroup_threads, cluster = 1;
  static constexpr int smem_bytes = 0;
  struct params {
    std::byte const* block;
    std::uint16_t* to;
  };
  TW_DEVICE static void run(params const& p) {
    weights_a<C> const from(0);
    typename weights_a<C>::block b;
    from.read(b, p.block);
    int const t = thread_id(), row = t / 32 * 16 + t % 32 / 4, k = t % 4 * 2;
    for (int step = 0; step < 4; ++step)
      for (int v = 0; v < 4; ++v)
        for (int half = 0; half < 2; ++half)
          p.to[(row + v % 2 * 8) * 64 + step * 16 + v / 2 * 8 + k + half] =
              static_cast<std::uint16_t>(b.part[step].r[v] >> 16 * half);
  }
};

float weight_float(elem type, std::uint16_t bits) {
  return type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

/// Is it a number of the type? f16 holds multiples of 2^-24.
bool holds(elem type, double x) {
  return type == elem::bf16 || std::ldexp(x, 24) == std::floor(std::ldexp(x, 24));
}

/// Prepared blocks with all nibbles against all scales (a sample of 16-bit ones).
template <operand_source From, elem Type>
void expect_each_number(int& compared) {
  constexpr gemm_config C = decode_config(From, Type);
  static_assert(is_checked<C>());
  constexpr weight_format F = C.weights();
  std::mt19937 random(7);
  int const rounds = F.scale == elem::ue8m0 || F.scale == elem::ue4m3 ? 4 : 12;
  for (int round = 0; round < rounds; ++round) {
    weights_desc w{64, 64, 1, F};
    auto const scale_count = static_cast<std::size_t>(64 * w.groups());
    std::vector<std::uint8_t> nibbles(64 * 32);
    for (std::size_t i = 0; i < nibbles.size(); ++i)
      nibbles[i] =
          static_cast<std::uint8_t>((i * 2 + static_cast<std::size_t>(round)) % 16 |
                                    ((i * 2 + 1 + static_cast<std::size_t>(round)) % 16) << 4);
    std::vector<std::uint8_t> scales(scale_count * static_cast<std::size_t>(size_bytes(F.scale)));
    std::vector<std::uint8_t> zeros(scale_count * static_cast<std::size_t>(F.zero_bytes_each()));
    for (std::size_t i = 0; i < scale_count; ++i) {
      auto const n = static_cast<unsigned>(i + static_cast<std::size_t>(round) * scale_count);
      if (F.scale == elem::ue8m0) {
        scales[i] = static_cast<std::uint8_t>(n % 130 == 129 ? 255 : n % 130);
      } else if (F.scale == elem::ue4m3) {
        scales[i] = static_cast<std::uint8_t>(n % 128);
      } else {  // finite, and so are the weights
        std::uint16_t const bits = static_cast<std::uint16_t>(
            random() % (Type == elem::bf16 ? 0x7C00 : 0x6C00) | (random() % 2 << 15));
        std::memcpy(&scales[2 * i], &bits, 2);
        std::uint16_t const zero = static_cast<std::uint16_t>(
            random() % (Type == elem::bf16 ? 0x7C00 : 0x6C00) | (random() % 2 << 15));
        if (F.zeros == weight_zeros::floats) std::memcpy(&zeros[2 * i], &zero, 2);
        if (F.zeros == weight_zeros::integers) zeros[i] = static_cast<std::uint8_t>(random() % 17);
      }
    }
    std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
    static_cast<void>(prepare_weights(w, {nibbles.data(), scales.data(), zeros.data(), F.scale},
                                      prepared.data()));
    std::vector<std::uint16_t> want(64 * 64), got(64 * 64, 0xFFFF);
    std::byte const* const blocks = prepared.data() + weights_header_bytes;
    decode_weights(w, blocks, 0, Type, want.data());
    auto const r = emu::run(weights_decode_kernel<C>{}, 1,
                            typename weights_decode_kernel<C>::params{blocks, got.data()});
    ASSERT_TRUE(r.clean()) << r.text();
    double const unit = Type == elem::bf16 ? 0x1p-8 : 0x1p-11;
    double const tiny = Type == elem::bf16 ? 0x1p-134 : 0x1p-25;
    for (int n = 0; n < 64; ++n)
      for (int k = 0; k < 64; ++k) {
        auto const i = static_cast<std::size_t>(64 * n + k);
        float const x = weight_float(Type, got[i]), y = weight_float(Type, want[i]);
        ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y)))
            << text_of(F) << " in " << name(Type) << " (" << n << ", " << k << "): " << x
            << ", want " << y;
        double const exact = weight_at(w, blocks, 0, n, k);
        if (std::isfinite(exact) && F.code == weight_code::int4) {
          ASSERT_LE(std::fabs(static_cast<double>(x) - exact), unit * std::fabs(exact) + tiny)
              << text_of(F);
        } else if (std::isfinite(exact) && holds(Type, exact)) {
          ASSERT_EQ(static_cast<double>(x), exact) << text_of(F);
        }
        ++compared;
      }
  }
}

TEST(WeightsDecode, EveryNumberOfEveryFormatIsDecoded) {
  int compared = 0;
  using enum operand_source;
  expect_each_number<mxfp4, elem::bf16>(compared);
  expect_each_number<mxfp4, elem::f16>(compared);
  expect_each_number<nvfp4, elem::bf16>(compared);
  expect_each_number<nvfp4, elem::f16>(compared);
  auto const in = [&]<elem Type>() {
    expect_each_number<int4_16, Type>(compared);
    expect_each_number<int4_16z, Type>(compared);
    expect_each_number<int4_16f, Type>(compared);
    expect_each_number<int4_32, Type>(compared);
    expect_each_number<int4_32z, Type>(compared);
    expect_each_number<int4_32f, Type>(compared);
    expect_each_number<int4_64, Type>(compared);
    expect_each_number<int4_64z, Type>(compared);
    expect_each_number<int4_64f, Type>(compared);
  };
  in.operator()<elem::bf16>();
  in.operator()<elem::f16>();
  EXPECT_GT(compared, 20 * 4 * 4096);
}

constexpr gemm_config e4m3_decode_config(operand_source from) {
  gemm_config c = decode_config(from, elem::e4m3);
  c.d = elem::bf16, c.sums = sum_form::promoted_128;
  return c;
}

/// Decodes one block for e4m3, and writes codes, (64, 128), and factors.
template <gemm_config C>
struct e4m3_decode_kernel {
  static constexpr int threads = warpgroup_threads, cluster = 1;
  static constexpr int smem_bytes = 0;
  struct params {
    std::byte const* block;
    std::uint8_t* to;
    float* factors;
  };
  TW_DEVICE static void run(params const& p) {
    weights_e4m3<C> const from(0);
    typename weights_e4m3<C>::block b;
    typename weights_e4m3<C>::row_factors factors;
    from.read(b, factors, p.block);
    int const t = thread_id(), row = t / 32 * 16 + t % 32 / 4;
    for (int r = 0; r < 2; ++r) p.factors[row + 8 * r] = factors.of[r];
    for (int step = 0; step < 4; ++step)
      for (int v = 0; v < 4; ++v)
        for (int i = 0; i < 4; ++i)
          p.to[(row + v % 2 * 8) * 128 + step * 32 + v / 2 * 16 + t % 4 * 4 + i] =
              static_cast<std::uint8_t>(b.part[step].r[v] >> 8 * i);
  }
};

/// Code times factor of each weight of a prepared block is the number that the host computes. The
/// kernel has the code of q / 256 for a signed nibble, and 256 times the factor.
template <operand_source From>
void expect_e4m3(weights_desc const& w, std::vector<std::byte> const& prepared) {
  constexpr gemm_config C = e4m3_decode_config(From);
  static_assert(is_checked<C>());
  std::byte const* const blocks = prepared.data() + weights_header_bytes;
  std::vector<std::uint8_t> codes(64 * 128);
  std::vector<float> factors(64);
  auto const r =
      emu::run(e4m3_decode_kernel<C>{}, 1,
               typename e4m3_decode_kernel<C>::params{blocks, codes.data(), factors.data()});
  ASSERT_TRUE(r.clean()) << r.text();
  for (int n = 0; n < w.n; ++n)
    for (int k = 0; k < w.k; ++k) {
      e4m3_weight const want = e4m3_weight_at(w, blocks, 0, n, k);
      float const got = to_float(e4m3{codes[static_cast<std::size_t>(128 * n + k)]});
      float const f = factors[static_cast<std::size_t>(n)];
      auto const product = [](float x, float y) {
        return static_cast<double>(x) * static_cast<double>(y);
      };
      if (std::isnan(want.factor))
        ASSERT_TRUE(std::isnan(f));
      else
        ASSERT_EQ(product(got, f), product(to_float(want.code), want.factor))
            << text_of(w.format) << " (" << n << ", " << k << ")";
    }
}

/// All nibbles at 15 exponents from the largest of a row on, exactly; beyond, rounded and counted.
TEST(WeightsDecode, MxfpFourForE4m3) {
  int exact_rows = 0, rounded_rows = 0;
  for (int round = 0; round < 20; ++round) {
    weights_desc w{64, 128, 1, {weight_code::mxfp4, elem::ue8m0, {}, 32, true}};
    std::vector<std::uint8_t> nibbles(64 * 64), scales(64 * 4);
    for (std::size_t i = 0; i < nibbles.size(); ++i)
      nibbles[i] = static_cast<std::uint8_t>((2 * i + 3 * i / 8 + 5U * round) % 16 |
                                             (2 * i + 1 + 7U * round) % 16 << 4);
    auto const below = [&](int n, int j) { return j == 0 ? 0 : (n + 5 * j + round) % 19; };
    for (int n = 0; n < 64; ++n)
      for (int j = 0; j < 4; ++j)
        scales[static_cast<std::size_t>(4 * n + j)] =
            static_cast<std::uint8_t>(20 + 3 * n - below(n, j));
    bool const nan = round == 7;
    if (nan) scales[4 * 9 + 2] = 255;
    std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
    weight_counts const counts =
        prepare_weights(w, {nibbles.data(), scales.data(), nullptr, elem::ue8m0}, prepared.data());
    ASSERT_EQ(read_weights_header(prepared), w);
    expect_e4m3<operand_source::mxfp4>(w, prepared);
    EXPECT_EQ(counts.parts, 64);
    EXPECT_EQ(counts.nan_scales, nan ? 1 : 0);
    std::int64_t rounded = 0;
    for (int n = 0; n < 64; ++n) {
      bool wrong = false;
      double most = 0, error = 0;
      for (int k = 0; k < 128; ++k) {
        auto const at = static_cast<std::size_t>(64 * n + k / 2);
        unsigned const q = nibbles[at] >> 4 * (k % 2) & 15U;
        double const want =
            std::ldexp(static_cast<double>(to_float(e2m1{static_cast<std::uint8_t>(q)})),
                       scales[static_cast<std::size_t>(4 * n + k / 32)] - 127);
        double const got = weight_at(w, prepared.data() + weights_header_bytes, 0, n, k);
        if (nan && n == 9) {
          EXPECT_TRUE(std::isnan(got));
          continue;
        }
        most = std::max(most, std::fabs(want)), error = std::max(error, std::fabs(got - want));
        wrong = wrong || got != want;
        bool const fits = below(n, k / 32) <= 14;
        if (fits) ASSERT_EQ(got, want) << n << " " << k;
      }
      rounded += wrong;
      exact_rows += !wrong, rounded_rows += wrong;
      EXPECT_LE(error, counts.largest_error * most * (1 + 1e-12));
      EXPECT_LE(error, std::ldexp(most, -15));
    }
    EXPECT_EQ(counts.rounded_parts, rounded);
    if (nan) continue;
    // The other direction, of rows that are exact and of groups that are not zero.
    std::vector<std::uint8_t> back(nibbles.size()), back_scales(scales.size());
    unprepare_weights(w, prepared.data(), {back.data(), back_scales.data(), nullptr});
    for (int n = 0; n < 64; ++n)
      for (int j = 0; j < 4; ++j)
        if (below(n, j) <= 14) {
          EXPECT_EQ(back_scales[static_cast<std::size_t>(4 * n + j)],
                    scales[static_cast<std::size_t>(4 * n + j)]);
          for (int i = 0; i < 16; ++i)
            EXPECT_EQ(back[static_cast<std::size_t>(64 * n + 16 * j + i)],
                      nibbles[static_cast<std::size_t>(64 * n + 16 * j + i)]);
        }
  }
  EXPECT_GT(exact_rows, 100);
  EXPECT_GT(rounded_rows, 100);
}

/// Integers are exact, and factors are the scales in float32: of 128 elements of K, and of a row.
TEST(WeightsDecode, IntFourForE4m3) {
  std::mt19937 random(3);
  for (int const group : {128, 0}) {
    weights_desc w{64, 128, 1, {weight_code::int4, elem::f32, {}, group, true}};
    std::vector<std::uint8_t> nibbles(64 * 64);
    for (auto& x : nibbles) x = static_cast<std::uint8_t>(random());
    std::vector<std::uint16_t> scales(64);
    // Below 2^115: signed_nibble.hpp.
    for (auto& x : scales) x = static_cast<std::uint16_t>(random() % 0x7900 | (random() % 2 << 15));
    scales[5] = 0x7FC0;  // NaN
    std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
    weight_counts const counts =
        prepare_weights(w, {nibbles.data(), scales.data(), nullptr, elem::bf16}, prepared.data());
    EXPECT_EQ(counts.rounded, 0);
    EXPECT_EQ(counts.nan_scales, 1);
    expect_e4m3<operand_source::int4_128>(w, prepared);
    std::vector<float> back(64);
    std::vector<std::uint8_t> back_nibbles(nibbles.size());
    unprepare_weights(w, prepared.data(), {back_nibbles.data(), back.data(), nullptr});
    EXPECT_EQ(back_nibbles, nibbles);
    for (int n = 0; n < 64; ++n) {
      auto const i = static_cast<std::size_t>(n);
      if (n != 5) EXPECT_EQ(back[i], to_float(bf16{scales[i]}));
      for (int k = 0; k < 128; ++k) {
        unsigned const q = nibbles[static_cast<std::size_t>(64 * n + k / 2)] >> 4 * (k % 2) & 15U;
        double const got = weight_at(w, prepared.data() + weights_header_bytes, 0, n, k);
        if (n != 5)
          EXPECT_EQ(got,
                    (static_cast<int>(q) - 8.0) * static_cast<double>(to_float(bf16{scales[i]})));
      }
    }
  }
}

/// q - z is exact for each nibble with each zero point: of 128 elements of K, and of a row.
TEST(WeightsDecode, IntFourWithZeroPointsForE4m3) {
  std::mt19937 random(5);
  int pairs[16][17] = {};
  for (int round = 0; round < 6; ++round) {
    int const group = round % 2 == 0 ? 128 : 0;
    weights_desc w{64, 128, 1, {weight_code::int4, elem::f32, weight_zeros::integers, group, true}};
    std::vector<std::uint8_t> nibbles(64 * 64), zeros(64);
    for (auto& x : nibbles) x = static_cast<std::uint8_t>(random());
    for (std::size_t n = 0; n < zeros.size(); ++n)
      zeros[n] = static_cast<std::uint8_t>((n + 11U * static_cast<unsigned>(round)) % 17);
    std::vector<float> scales(64);
    for (auto& x : scales) x = std::ldexp(static_cast<float>(random() % 4095 + 1), -12);
    std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
    weight_counts const counts = prepare_weights(
        w, {nibbles.data(), scales.data(), zeros.data(), elem::f32}, prepared.data());
    EXPECT_EQ(counts.rounded_parts, 0);
    ASSERT_EQ(read_weights_header(prepared), w);
    expect_e4m3<operand_source::int4_128z>(w, prepared);
    std::vector<float> back(64);
    std::vector<std::uint8_t> back_nibbles(nibbles.size()), back_zeros(64);
    unprepare_weights(w, prepared.data(), {back_nibbles.data(), back.data(), back_zeros.data()});
    EXPECT_EQ(back_nibbles, nibbles);
    EXPECT_EQ(back_zeros, zeros);
    EXPECT_EQ(back, scales);
    for (int n = 0; n < 64; ++n)
      for (int k = 0; k < 128; ++k) {
        auto const row = static_cast<std::size_t>(n);
        int const q = nibbles[static_cast<std::size_t>(64 * n + k / 2)] >> 4 * (k % 2) & 15;
        ++pairs[q][zeros[row]];
        ASSERT_EQ(weight_at(w, prepared.data() + weights_header_bytes, 0, n, k),
                  (q - zeros[row]) * static_cast<double>(scales[row]))
            << q << " - " << int{zeros[row]};
      }
  }
  for (auto const& of_nibble : pairs)
    for (int const count : of_nibble) EXPECT_GT(count, 0);
}

template <int Turns>
constexpr gemm_config in_turns = [] {
  gemm_config c;
  c.k_turns = Turns;
  return c;
}();

template <int Turns>
void expect_each_block_once() {
  using sums = turn_sums<in_turns<Turns>>;
  for (int first = 0; first < 4 * Turns; ++first)
    for (int blocks = 0; blocks < 5 * Turns; ++blocks) {
      std::vector<int> taken(static_cast<std::size_t>(blocks), 0);
      for (int turn = 0; turn < Turns; ++turn) {
        int const place = sums::place_of(turn, first);
        EXPECT_EQ((first + place) % Turns, turn) << "the stage has another reader";
        for (int i = 0; i < sums::blocks_of(place, blocks); ++i)
          ++taken.at(static_cast<std::size_t>(place + i * Turns));
      }
      EXPECT_EQ(taken, std::vector<int>(taken.size(), 1)) << first << ", " << blocks;
    }
}

/// Each stage has one reader in all rounds of the ring, and each K block one consumer.
TEST(TurnSums, PlacesCoverEachBlockOnce) {
  expect_each_block_once<2>();
  expect_each_block_once<3>();
  expect_each_block_once<6>();
}

}  // namespace
}  // namespace tw::test
