// SPDX-License-Identifier: Apache-2.0
// tensor_test.cpp  Elements, slices, shapes and alignment of tensors.
#include "tilewright/tensor/tensor.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/layout/random.hpp"
#include "tilewright/layout/layout.hpp"

namespace {

using namespace tw;

constexpr layout tensor_sw128 = swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L);
constexpr layout stile = tile_to_shape(tensor_sw128, make_shape(32, 128));
constexpr layout stile3 = tile_to_shape(tensor_sw128, make_shape(24, 64, 3));

/// Every element of a tensor of layout L, by every kind of coordinate, and every slice of it.
template <layout L, space S = gmem>
void is_the_layout() {
  SCOPED_TRACE(print(L).text);
  std::vector<int> cells(static_cast<std::size_t>(cosize(L)));
  tensor<int, L, S> const t{cells.data()};
  for (int i = 0; i < size(L); ++i) ASSERT_EQ(&t(i) - cells.data(), L(i)) << i;
  if constexpr (rank(L) == 2) {
    for (int i = 0; i < size(mode(L, 0)); ++i) {
      for (int j = 0; j < size(mode(L, 1)); ++j) {
        int const* const want = cells.data() + L(i, j);
        ASSERT_EQ(&t(i, j), want);
        ASSERT_EQ(&t(i, _)(j), want);
        ASSERT_EQ(&t(_, j)(i), want);
        ASSERT_EQ(&t(_, _)(i, j), want);
        ASSERT_EQ(&t(i64{i}, i64{j}), want);
      }
    }
    static_assert(decltype(t(0, _))::map.shape == detail::modes_where(L, "(0,_)"_T, true).shape);
  }
  if constexpr (rank(L) == 3) {
    for (int i = 0; i < size(mode(L, 0)); ++i) {
      for (int j = 0; j < size(mode(L, 1)); ++j) {
        for (int k = 0; k < size(mode(L, 2)); ++k) {
          int const* const want = cells.data() + L(i, j, k);
          ASSERT_EQ(&t(i, j, k), want);
          ASSERT_EQ(&t(_, j, _)(i, k), want);
          ASSERT_EQ(&t(_, _, k)(i, _)(j), want);
          ASSERT_EQ(&t(_, _, k)(_, j)(i), want);
          ASSERT_EQ(&t(i, _, k)(j), want);
        }
      }
    }
  }
}

TEST(Tensor, ElementsAreWhereTheLayoutSays) {
  is_the_layout<"(4,8):(8,1)"_L>();
  is_the_layout<"12:3"_L>();
  is_the_layout<"((2,2),(2,4)):((1,4),(2,8))"_L>();
  is_the_layout<"((6,2),(4,5)):((1,40),(10,200))"_L>();
  is_the_layout<"(3,4,5):(20,1,4)"_L>();
}

TEST(Tensor, SwizzledElementsAreWhereTheLayoutSays) {
  is_the_layout<stile, smem>();
  is_the_layout<stile3, smem>();  // 24 rows: not 2^n
  is_the_layout<tile_to_shape(tensor_sw128, make_shape(16, 64, 5)),
                smem>();                                     // odd number of stages
  is_the_layout<"Sw<2,0,3> o 0 o (6,10):(10,1)"_L, smem>();  // carries
  is_the_layout<"Sw<2,1,3> o 0 o (8,4,3):(4,1,32)"_L, smem>();
  is_the_layout<"Sw<1,0,1> o 0 o (4,4):(4,1)"_L, smem>();
  is_the_layout<"Sw<1,0,-2> o 0 o (4,4):(1,4)"_L, smem>();
  static_assert(tensor<int, stile, smem>::own_bits && tensor<int, stile3, smem>::own_bits);
  static_assert(!tensor<int, "Sw<2,0,3> o 0 o (6,10):(10,1)"_L, smem>::own_bits);
}

TEST(Tensor, NestedCoordinatesSlicePartsOfModes) {
  constexpr layout l = "((2,4),(3,5)):((1,6),(2,24))"_L;
  std::vector<int> cells(static_cast<std::size_t>(cosize(l)));
  tensor<int, l> const t{cells.data()};
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 4; ++b) {
      for (int c = 0; c < 15; ++c) {
        ASSERT_EQ(&t(crd(a, b), c) - cells.data(), l(make_coord(a, b), c));
        ASSERT_EQ(&t(crd(a, _), c)(b) - cells.data(), l(make_coord(a, b), c));
        ASSERT_EQ(&t(crd(_, b), crd(_, c / 3))(a, c % 3) - cells.data(), l(make_coord(a, b), c));
      }
    }
  }
}

// A swizzle that leaves the kept modes alone is settled: the slice is a plain tensor.
static_assert(
    !decltype(tensor<int, "Sw<1,3,3> o 0 o (8,8,2):(1,8,64)"_L, smem>{}(_, 0, 0))::map.swizzled());

// Known alignment after a slice: the strides of the fixed modes.
template <layout L, class... C>
constexpr int alignment_of(C... c) {
  return decltype(tensor<float, L, smem.aligned(128)>{nullptr}(c...))::align_bytes;
}
static_assert(alignment_of<"(4,8):(8,1)"_L>(0, _) == 32);
static_assert(alignment_of<"(4,8):(8,1)"_L>(_, 0) == 4);
static_assert(alignment_of<"(4,8):(64,1)"_L>(0, _) == 128);
static_assert(alignment_of<"(4,8):(0,1)"_L>(0, _) == 128);
static_assert(alignment_of<"Sw<2,2,3> o 0 o (8,4,4):(16,1,4)"_L>(0, _, _) == 16);
static_assert(alignment_of<"Sw<2,2,3> o 0 o (8,4,4):(16,1,4)"_L>(_, 0, _) == 4);

TEST(Tensor, ShapesAreCheckedAndRead) {
  std::vector<int> cells(96);
  auto const t = make_tensor<"(4,(2,3),4):(1,(4,8),24)"_L>(make_gmem_ptr(cells.data()));
  expect_shape<4, 6, 4>(t);
  expect_shape<4, _, 4>(t);
  expect_shape<4, 4>(t(_, 3, _));
  EXPECT_EQ(size(t), 96);
  EXPECT_EQ(size<1>(t), 6);
  EXPECT_EQ(rank(t), 3);
  auto const g = gmem_view(cells.data(), 7, 11, 13);
  expect_shape<_, _>(g);
  EXPECT_EQ(size<0>(g), 7);
  EXPECT_EQ(size<1>(g), 11);
  EXPECT_EQ(&g(3, 5) - cells.data(), 44);
  EXPECT_EQ(&g(_, 5)(3) - cells.data(), 44);
}

TEST(Tensor, PromisesAreCheckedOnTheHost) {
  alignas(16) float cells[8] = {};
  auto const code = [](auto const& act) {
    try {
      act();
    } catch (rejected const& r) {
      return r.why().code;
    }
    return std::string("none");
  };
  EXPECT_EQ(code([&] { make_smem_ptr<16>(&cells[0]); }), "none");
  EXPECT_EQ(code([&] { make_smem_ptr<16>(&cells[1]); }), "TW0152");
  EXPECT_EQ(code([&] { gmem_view<16>(&cells[0], 2, 4, 4); }), "none");
  EXPECT_EQ(code([&] { gmem_view<16>(&cells[0], 2, 3, 3); }), "TW0153");
  EXPECT_EQ(code([&] { gmem_view<16>(&cells[2], 2, 4, 4); }), "TW0152");
}

TEST(Tensor, OffsetsBeyond32Bits) {
  constexpr layout l = "(8,4):(1,3000000000)"_L;
  auto* const base = reinterpret_cast<char*>(std::uintptr_t{1} << 40);
  tensor<char, l> const t{base};
  EXPECT_EQ(&t(5, 3) - base, 9000000005);
  EXPECT_EQ(&t(_, 3)(5) - base, 9000000005);
  auto const g = gmem_view(base, 100000, 100000, 100000);
  EXPECT_EQ(&g(99999, 99999) - base, 9999999999);
  tensor<char, "(4,2):(-3,1)"_L> const backwards{base};
  EXPECT_EQ(&backwards(2, 1) - base, -5);
}

TEST(Tensor, IsUsableInConstantExpressions) {
  constexpr int sum = [] {
    fragment<int, "(2,3):(3,1)"_L> f = {};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) f(i, j) = 10 * i + j;
    }
    return f(1, _)(2) + f(_, 1)(0) + f.v[5];
  }();
  static_assert(sum == 12 + 1 + 12);
}

}  // namespace
