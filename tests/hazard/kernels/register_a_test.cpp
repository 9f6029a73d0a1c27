// SPDX-License-Identifier: Apache-2.0
// register_a_test.cpp  Hopper GEMMs with A in registers, whose ordinary loads are seen: warps read
//                      A from stages that TMA fills again, tile after tile.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/hazard/kernels/sm90_gemm.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {
namespace {

constexpr gemm_config kernel_of(elem ab, elem d, bool d_m, sum_form sums = sum_form::plain,
                                int tile_m = 128) {
  return {.a = {ab, ab, operand_major::mn, operand_source::registers},
          .b = {ab},
          .d = d,
          .d_m = d_m,
          .tile_m = tile_m,
          .tile_n = 64,
          .cluster_m = 1,
          .stages = 3,
          .sums = sums};
}

/// D (m, n) = A (k, m)^T B (n, k)^T of small integers. One CTA computes all tiles. Each has an odd
/// number of K blocks, an even one, or one; the ring of three stages turns several times.
template <gemm_config C, class Element, class Result>
void expect_clean_and_right(std::uint64_t seed, Element (*make)(int), Result (*rounded)(int)) {
  constexpr int counts[] = {7, 6, 1};
  int const m = 256, n = 128, blocks = counts[seed % 3], k = blocks * C.tile_k();
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<int> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(n * k));
  for (int& x : a) x = static_cast<int>(random() % 15) - 7;
  for (int& x : b) x = static_cast<int>(random() % 15) - 7;
  std::vector<Element> a_in, b_in;
  for (int x : a) a_in.push_back(make(x));
  for (int x : b) b_in.push_back(make(x));
  int const pitch = (C.d_m ? m : n) + 1;  // which TMA cannot address
  std::vector<Result> d(static_cast<std::size_t>(pitch * (C.d_m ? n : m)));
  expect_clean<C>(one_cluster_params<C>(m, n, blocks, a_in.data(), b_in.data(), d.data(), pitch),
                  seed);
  for (int i = 0; i < m; i += 3)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int x = 0; x < k; ++x)
        sum += a[static_cast<std::size_t>(x * m + i)] * b[static_cast<std::size_t>(j * k + x)];
      ASSERT_EQ(d[static_cast<std::size_t>(C.d_m ? j * pitch + i : i * pitch + j)], rounded(sum))
          << i << ", " << j;
    }
}

class RegisterAHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
};

float as_float(int x) { return static_cast<float>(x); }
std::int8_t as_s8(int x) { return static_cast<std::int8_t>(x); }
std::uint8_t as_e4m3(int x) { return to_e4m3(static_cast<float>(x), saturation::finite).bits; }
std::uint16_t as_bf16(int x) { return to_bf16(static_cast<float>(x)).bits; }
int as_int(int x) { return x; }

TEST_P(RegisterAHazards, Words) {
  expect_clean_and_right<kernel_of(elem::tf32, elem::f32, false)>(seed(), as_float, as_float);
}
TEST_P(RegisterAHazards, WordsOfAnMMajorResult) {
  expect_clean_and_right<kernel_of(elem::tf32, elem::f32, true)>(seed(), as_float, as_float);
}
TEST_P(RegisterAHazards, Bytes) {
  expect_clean_and_right<kernel_of(elem::s8, elem::s32, false)>(seed(), as_s8, as_int);
}
TEST_P(RegisterAHazards, BytesOfAnMMajorResultIn64Rows) {
  expect_clean_and_right<kernel_of(elem::s8, elem::bf16, true, sum_form::plain, 64)>(seed(), as_s8,
                                                                                     as_bf16);
}
TEST_P(RegisterAHazards, PromotedSums) {
  expect_clean_and_right<kernel_of(elem::e4m3, elem::bf16, false, sum_form::promoted_128)>(
      seed(), as_e4m3, as_bf16);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RegisterAHazards, testing::Range(0, 6));

}  // namespace
}  // namespace tw::test
