// SPDX-License-Identifier: Apache-2.0
// sm80_gemm_test.cpp  Ampere GEMM kernels with their ordinary loads and stores seen: no access
//                     without order, and no bank conflict on either side of a stage.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm80/gemm.hpp"

namespace tw::test {
namespace {

// The tiles that `tilewright explain arch=sm80` derives (docs/ampere.md).
static_assert(sm80_tile(operand_major::k, 128, 64) ==
              "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))"_L);
static_assert(sm80_tile(operand_major::k, 128, 32) ==
              "Sw<2,3,3> o 0 o ((8,16),(32,1)):((32,256),(1,0))"_L);
static_assert(sm80_tile(operand_major::mn, 128, 32) ==
              "Sw<3,3,3> o 0 o ((64,2),(8,4)):((1,2048),(64,512))"_L);

/// D (m, n) = A (m, k) B (k, n) of small integers, dense. With a gate without activation, of
/// interleaved columns, D (m, n/2) is the product of two neighbours each. With an auxiliary output
/// that is A B.
template <sm80_config C>
void expect_clean_and_right(int m, int n, int k, std::uint64_t seed) {
  static_assert(C.ab == elem::bf16 && C.d == elem::f32);
  static_assert(gemm_sm80<C>::smem_bytes == C.stages * C.stage_bytes());  // as the family states it
  std::mt19937 random(static_cast<unsigned>(seed));
  auto const fill = [&](int lines, int pitch) {
    std::vector<std::uint16_t> x(static_cast<std::size_t>(lines * pitch));
    for (std::uint16_t& v : x) v = to_bf16(static_cast<float>(random() % 15) - 7).bits;
    return x;
  };
  auto const round = [](int elems) { return (elems + 7) / 8 * 8; };
  int const a_pitch = round(C.a_mn ? m : k), b_pitch = round(C.b_mn ? n : k), d_pitch = n + 3;
  std::vector<std::uint16_t> const a = fill(C.a_mn ? k : m, a_pitch);
  std::vector<std::uint16_t> const b = fill(C.b_mn ? k : n, b_pitch);
  std::vector<float> d(static_cast<std::size_t>(m * d_pitch), NAN);
  sm80_params p{};
  p.a = {a.data(), a_pitch, 0, nullptr};
  p.b = {b.data(), b_pitch, 0, nullptr};
  std::vector<float> aux(static_cast<std::size_t>(m * d_pitch), NAN);
  int const d_cols = C.gated() ? n / 2 : n;
  p.walk = tile_walk({(m + C.tile_m - 1) / C.tile_m, (n + C.tile_n - 1) / C.tile_n, 1});
  p.m = m, p.n = d_cols, p.k = k, p.k_tiles = (k + C.tile_k - 1) / C.tile_k;
  p.epilogue.data = d.data();
  p.epilogue.pitch = d_pitch;
  p.epilogue.m = m, p.epilogue.n = d_cols, p.epilogue.alpha = 1;
  p.epilogue.fused.act = activation::none;
  p.epilogue.fused.gate_step = 2, p.epilogue.fused.up_offset = 1;
  p.epilogue.fused.aux = aux.data(), p.epilogue.fused.aux_pitch = d_pitch;
  emu::options o;
  o.seed = seed;
  o.random_warps = true;
  o.policy = emu::async_policy(seed % 3);
  o.bank_conflicts = true;
  emu::report const r = emu::run(gemm_sm80<C>{}, 2, p, o);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_GT(r.counts.plain_stores, 0);
  std::set<emu::bank_access> kinds;
  for (emu::bank_traffic const& t : r.banks) {
    kinds.insert(t.what);
    EXPECT_EQ(t.wavefronts, t.ideal) << "in accesses of kind " << static_cast<int>(t.what);
  }
  EXPECT_EQ(kinds.count(emu::bank_access::cp_async) + kinds.count(emu::bank_access::ldmatrix), 2U);
  auto const value = [](std::vector<std::uint16_t> const& x, int i) {
    return to_float(bf16{x[static_cast<std::size_t>(i)]});
  };
  auto const sum_of = [&](int i, int j) {
    float sum = 0;  // exact
    for (int x = 0; x < k; ++x)
      sum += value(a, C.a_mn ? x * a_pitch + i : i * a_pitch + x) *
             value(b, C.b_mn ? x * b_pitch + j : j * b_pitch + x);
    return sum;
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      auto const at = static_cast<std::size_t>(i * d_pitch + j);
      if (C.aux()) {
        ASSERT_EQ(aux[at], sum_of(i, j)) << i << ", " << j;
      }
      if (j >= d_cols) continue;
      float const want = C.gated() ? sum_of(i, 2 * j) * sum_of(i, 2 * j + 1) : sum_of(i, j);
      ASSERT_EQ(d[at], want) << i << ", " << j;
    }
}

class Sm80GemmHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!plain_accesses_seen) GTEST_SKIP() << "built without interception";
  }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
};

TEST_P(Sm80GemmHazards, AtomsOf8Lines) {
  expect_clean_and_right<sm80_config{elem::bf16, elem::f32, false, false, 64, 64, 64, 2, 2, 3}>(
      70, 100, 200, seed());
}
TEST_P(Sm80GemmHazards, AtomsOf64Lines) {
  expect_clean_and_right<sm80_config{elem::bf16, elem::f32, true, true, 64, 64, 32, 2, 1, 4}>(
      90, 70, 150, seed());
}
TEST_P(Sm80GemmHazards, AtomsOf32Columns) {
  expect_clean_and_right<sm80_config{elem::bf16, elem::f32, false, true, 32, 64, 32, 1, 2, 2}>(
      60, 70, 90, seed());
}
TEST_P(Sm80GemmHazards, AGateAndAnAuxiliaryOutput) {
  constexpr sm80_config gated_aux{.d = elem::f32, .tile_m = 64, .epilogue = epilogue_id::gated_aux};
  expect_clean_and_right<gated_aux>(70, 112, 100, seed());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Sm80GemmHazards, testing::Range(1, 5));

}  // namespace
}  // namespace tw::test
