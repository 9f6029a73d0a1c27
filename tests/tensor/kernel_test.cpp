// SPDX-License-Identifier: Apache-2.0
// kernel_test.cpp  The kernels of tests/golden/tensor_code.hpp in the emulator: with tensors and by
//                  hand they write the same, and the expected values.
#include <gtest/gtest.h>

#include <vector>

#include "tests/golden/tensor_code.hpp"

namespace tw_test {
namespace {

std::vector<bf16> numbers(int count) {
  std::vector<bf16> x(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = to_bf16(float(i * 7 % 61 - 30));
  return x;
}

template <template <written> class Kernel, class Set>
void both(int ctas, Set const& set) {
  typename Kernel<with_tensors>::params p{};
  set(p, 0);
  launch<Kernel<with_tensors>>(ctas, p, emu::options{});
  typename Kernel<by_hand>::params q{};
  set(q, 1);
  launch<Kernel<by_hand>>(ctas, q, emu::options{});
}

TEST(TensorKernel, TileThroughSharedMemory) {
  int const m = 256;
  int const k = 128;
  int const pitch = 136;
  std::vector<bf16> const a = numbers(m * pitch);
  std::vector<bf16> d[2] = {numbers(m / 2 * pitch), numbers(m / 2 * pitch)};
  both<tile_kernel>(4, [&](auto& p, int i) {
    p.a = a.data(), p.d = d[i].data();
    p.m = m, p.k = k, p.lda = pitch, p.ldd = pitch, p.tiles_k = k / 64;
  });
  EXPECT_EQ(d[0], d[1]);
  for (int r = 0; r < m / 2; ++r) {
    for (int c = 0; c < k; ++c) {
      int const from = (128 * (r / 64) + r % 64) * pitch + c;
      float const sum =
          to_float(a[std::size_t(from)]) + to_float(a[std::size_t(from + 64 * pitch)]);
      ASSERT_EQ(d[0][std::size_t(r * pitch + c)], to_bf16(sum)) << r << ", " << c;
    }
  }
}

template <place P>
void same_elements(int ctas) {
  std::vector<std::uint16_t> out[2] = {std::vector<std::uint16_t>(1 << 16),
                                       std::vector<std::uint16_t>(1 << 16)};
  launch<element_kernel<P, with_tensors>>(ctas, {out[0].data()}, emu::options{});
  launch<element_kernel<P, by_hand>>(ctas, {out[1].data()}, emu::options{});
  EXPECT_EQ(out[0], out[1]);
  EXPECT_NE(out[0], std::vector<std::uint16_t>(1 << 16));
}

TEST(TensorKernel, Elements) {
  same_elements<place::swizzled_tile>(64);
  same_elements<place::nested>(16);
  same_elements<place::index_by_6>(1);
}

TEST(TensorKernel, TilesOfRunTimeMatrices) {
  std::vector<float> a(256 * 200);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  std::vector<float> out[2] = {std::vector<float>(768), std::vector<float>(768)};
  both<run_time_kernel>(6, [&](auto& p, int i) {
    p.a = a.data(), p.out = out[i].data(), p.m = 256, p.k = 192, p.ld = 200, p.tiles_k = 3;
  });
  EXPECT_EQ(out[0], out[1]);
  EXPECT_EQ(out[0][5 * 128 + 3], static_cast<float>((128 + 3) * 200 + 2 * 64 + 5));
}

TEST(TensorKernel, RingStages) {
  for (int stage = 0; stage < 3; ++stage) {
    std::vector<std::uint32_t> out[2] = {std::vector<std::uint32_t>(128),
                                         std::vector<std::uint32_t>(128)};
    both<ring_kernel>(1, [&](auto& p, int i) { p.out = out[i].data(), p.stage = stage; });
    EXPECT_EQ(out[0], out[1]);
    EXPECT_NE(out[0][0], 0U);
  }
}

TEST(TensorKernel, RaggedTilesReadNothingOutside) {
  int const m = 141;
  int const k = 72;
  std::vector<bf16> const a = numbers(m * k);
  std::vector<bf16> out[2] = {numbers(4 * 8192), numbers(4 * 8192)};
  both<ragged_kernel>(4, [&](auto& p, int i) {
    p.a = a.data(), p.out = out[i].data(), p.m = m, p.k = k, p.lda = k, p.tiles_k = 2;
  });
  EXPECT_EQ(out[0], out[1]);
  for (int i = 0; i < 4 * 8192; ++i) {
    int const r = 128 * (i / 16384) + i / 64 % 128;
    int const c = 64 * (i / 8192 % 2) + i % 64;
    bf16 const want = r < m && c < k ? a[std::size_t(r * k + c)] : bf16{0};
    ASSERT_EQ(out[0][std::size_t(i)], want) << r << ", " << c;
  }
}

}  // namespace
}  // namespace tw_test
