// SPDX-License-Identifier: Apache-2.0
// weights_decode_test.cpp  Prepared 4-bit weights as consumers decode them: each nibble with each
//                          scale of each format, in the emulator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm90/check_config.hpp"
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
        } else if (std::isfinite(exact)) {
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

}  // namespace
}  // namespace tw::test
