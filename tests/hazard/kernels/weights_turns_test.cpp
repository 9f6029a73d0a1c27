// SPDX-License-Identifier: Apache-2.0
// weights_turns_test.cpp  Kernels of 4-bit weights whose consumers take K blocks in turn. The
//                         emulator checks all loads and stores: of operand stages, and of the sums
//                         that consumers write to shared memory and consumer 0 adds.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/hazard/kernels/sm90_gemm.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/weights/weights.hpp"

namespace tw::test {
namespace {

constexpr gemm_config kernel_of(int turns, int tile_m, int tile_n, int stages, bool fp8) {
  elem const ab = fp8 ? elem::e4m3 : elem::bf16;
  return {.a = {ab, ab, operand_major::k, fp8 ? operand_source::int4_128 : operand_source::int4_64},
          .b = {ab},
          .d = elem::bf16,
          .d_m = true,
          .tile_m = tile_m,
          .tile_n = tile_n,
          .cluster_m = 1,
          .k_turns = turns,
          .stages = stages,
          .sums = fp8 ? sum_form::promoted_128 : sum_form::plain};
}

/// D^T (n, m) of weights (m, k) and activations (n, k), small integers. One CTA computes all tiles.
/// With one K block a tile has fewer blocks than consumers. With 5 and 13 blocks the second tile
/// begins in another stage than the first.
template <gemm_config C>
void expect_clean_and_right(std::uint64_t seed) {
  constexpr int counts[] = {1, 5, 13, 8}, m = 256, n = 32;
  constexpr bool fp8 = C.weights().fp8;
  int const blocks = counts[seed % 4], k = blocks * C.tile_k();
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<int> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k));
  for (int& x : a) x = static_cast<int>(random() % 16) - 8;
  for (int& x : b) x = static_cast<int>(random() % 3) - 1;
  std::vector<std::uint8_t> nibbles(a.size() / 2, 0);
  for (std::size_t i = 0; i < a.size(); ++i)
    nibbles[i / 2] = static_cast<std::uint8_t>(nibbles[i / 2] | (a[i] + 8) << 4 * (i % 2));
  int const group = fp8 ? 128 : 64;
  std::vector<float> const ones(static_cast<std::size_t>(m * k / group), 1.0F);
  elem const scales = fp8 ? elem::f32 : elem::bf16;
  weights_desc w{m, k, 1, {weight_code::int4, scales, weight_zeros::none, group, fp8}};
  std::vector<std::byte> prepared(static_cast<std::size_t>(w.bytes()));
  static_cast<void>(
      prepare_weights(w, {nibbles.data(), ones.data(), nullptr, elem::f32}, prepared.data()));

  std::vector<std::uint8_t> b_in;
  for (int const x : b) {
    if (fp8) {
      b_in.push_back(to_e4m3(static_cast<float>(x), saturation::finite).bits);
    } else {
      std::uint16_t const bits = to_bf16(static_cast<float>(x)).bits;
      b_in.push_back(static_cast<std::uint8_t>(bits)), b_in.push_back(bits >> 8);
    }
  }
  int const pitch = m + 1;  // which TMA cannot address
  std::vector<std::uint16_t> d(static_cast<std::size_t>(pitch * n));
  gemm_params p = one_cluster_params<C>(m, n, blocks, b_in.data(), b_in.data(), d.data(), pitch);
  p.weights = {prepared.data() + weights_header_bytes, static_cast<int>(w.row_blocks()),
               static_cast<int>(w.k_blocks())};
  expect_clean<C>(p, seed);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int x = 0; x < k; ++x)
        sum += a[static_cast<std::size_t>(i * k + x)] * b[static_cast<std::size_t>(j * k + x)];
      ASSERT_EQ(d[static_cast<std::size_t>(j * pitch + i)], to_bf16(static_cast<float>(sum)).bits)
          << i << ", " << j;
    }
}

class WeightsInTurn : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
};

TEST_P(WeightsInTurn, Two) { expect_clean_and_right<kernel_of(2, 128, 16, 4, false)>(seed()); }
TEST_P(WeightsInTurn, Three) { expect_clean_and_right<kernel_of(3, 128, 32, 6, false)>(seed()); }
TEST_P(WeightsInTurn, SixOfE4m3) { expect_clean_and_right<kernel_of(6, 64, 16, 6, true)>(seed()); }

INSTANTIATE_TEST_SUITE_P(Seeds, WeightsInTurn, testing::Range(0, 8));

}  // namespace
}  // namespace tw::test
