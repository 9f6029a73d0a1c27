// SPDX-License-Identifier: Apache-2.0
// algorithm_test.cpp  fill, clear, transform, axpby, gemm; coordinates; tensor memory.
#include "tilewright/tensor/algorithm.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/tensor.hpp"

namespace {

using namespace tw;

TEST(Algorithm, FillReachesEveryElementAndNoOther) {
  alignas(16) float cells[64];
  std::fill(cells, cells + 64, 7.0F);
  tensor<float, "(4,8):(16,1)"_L, gmem.aligned(16)> const t{cells};
  fill(t, 3.0F);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(cells[i], i % 16 < 8 ? 3.0F : 7.0F);
  clear(t);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(cells[i], i % 16 < 8 ? 0.0F : 7.0F);
}

TEST(Algorithm, TransformConverts) {
  fragment<float, "(4,4):(1,4)"_L> x;
  fragment<bf16, "(4,4):(4,1)"_L> y;
  for (int i = 0; i < 16; ++i) x(i) = static_cast<float>(i) / 3;
  transform(x, y, [](float v) { return to_bf16(v); });
  for (int i = 0; i < 16; ++i) EXPECT_EQ(y(i), to_bf16(x(i)));
}

TEST(Algorithm, Axpby) {
  fragment<float, "(2,8):(8,1)"_L> x;
  fragment<float, "(2,8):(1,2)"_L> y;
  for (int i = 0; i < 16; ++i) x(i) = static_cast<float>(i), y(i) = 100.0F;
  axpby(2.0F, x, 0.5F, y);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(y(i), static_cast<float>(2 * i + 50));
  fill(y, __builtin_nanf(""));
  axpby(2.0F, x, 0.0F, y);  // does not use y
  for (int i = 0; i < 16; ++i) EXPECT_EQ(y(i), static_cast<float>(2 * i));
  fragment<bf16, "(2,8):(8,1)"_L> h;
  fill(h, to_bf16(1.0F));
  axpby(1.0F, x, 0.25F, h);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(to_float(h(i)), static_cast<float>(i) + 0.25F);
}

TEST(Algorithm, GemmIsThreeLoops) {
  fragment<bf16, "(4,3):(3,1)"_L> a;
  fragment<f16, "(5,3):(1,5)"_L> b;
  fragment<float, "(4,5):(5,1)"_L> c;
  for (int i = 0; i < 12; ++i) a(i) = to_bf16(static_cast<float>(i - 5));
  for (int i = 0; i < 15; ++i) b(i) = to_f16(static_cast<float>(i - 7));
  fill(c, 1000.0F);
  gemm(a, b, c);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) {
      float want = 1000.0F;
      for (int k = 0; k < 3; ++k) want += to_float(a(i, k)) * to_float(b(j, k));
      EXPECT_EQ(c(i, j), want);
    }
  }
  fragment<int, "(2,2):(1,2)"_L> x = {{1, 2, 3, 4}};
  fragment<int, "(2,2):(1,2)"_L> z = {};
  gemm(x, x, z);
  EXPECT_EQ(z(1, 0), 2 * 1 + 4 * 3);
}

TEST(Identity, SaysWhichCellEachElementIs) {
  int cells[6 * 32];
  tensor<int, "(6,(4,8)):(32,(8,1))"_L> const t{cells};
  auto const c = identity_like(t);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 32; ++j) {
      EXPECT_EQ(c(i, j), (coordinates<2>{{i, j}}));
      EXPECT_EQ(c(_, j)(i), (coordinates<2>{{i, j}}));
      EXPECT_EQ(c(i, crd(j % 4, _))(j / 4), (coordinates<2>{{i, j}}));
    }
  }
  auto const corner = make_identity_tensor<"(2,3,4)"_T>();
  EXPECT_EQ(corner(1, 2, 3), (coordinates<3>{{1, 2, 3}}));
}

TEST(Identity, FollowsPartitionsOfRunTimeMatrices) {
  int const m = 21;
  int const k = 30;
  std::vector<int> cells(static_cast<std::size_t>(m * k));
  std::iota(cells.begin(), cells.end(), 0);
  auto const a = gmem_view(cells.data(), m, k, k);
  constexpr layout tv = "((4,2),(2,4)):((1,8),(4,16))"_L;  // 8 threads on 4 x 16 cells
  int seen = 0;
  for (int bx = 0; bx < 3; ++bx) {
    for (int by = 0; by < 2; ++by) {
      for (int thread = 0; thread < 8; ++thread) {
        auto const part = [&](auto const& t) {
          return partition<tile(4, 16), tv>(local_tile<tile(8, 16)>(t, bx, by), thread);
        };
        auto const x = part(a);
        auto const c = part(identity_like(a));
        auto const p = inside(c, m, k);
        for (int i = 0; i < size(x); ++i) {
          EXPECT_EQ(p(i), c(i)[0] < m && c(i)[1] < k);
          if (!p(i)) continue;
          ++seen;
          EXPECT_EQ(x(i), c(i)[0] * k + c(i)[1]);
        }
      }
    }
  }
  EXPECT_EQ(seen, m * k);
}

TEST(Tmem, AddressesAreLanesAndColumns) {
  constexpr layout l = "((32,4),(8,16)):((1@0,32@0),(1@1,8@1))"_L;
  auto const acc = make_tmem_tensor<float, l>({(16U << 16) + 64U});
  EXPECT_EQ(acc(5, 100).lane(), 21);
  EXPECT_EQ(acc(5, 100).column(), 164);
  EXPECT_EQ(acc(_, 100)(33), acc(33, 100));
  EXPECT_EQ(acc(crd(_, 2), 3)(7), acc(71, 3));
  auto const quarter = local_tile<tile(32, 32)>(acc, 2, 3);
  EXPECT_EQ(quarter(1, 2), acc(65, 98));
}

}  // namespace
