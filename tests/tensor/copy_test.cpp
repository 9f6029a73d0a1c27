// SPDX-License-Identifier: Apache-2.0
// copy_test.cpp  Copies, vectors and fragments: what arrives, and how wide it travels.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/layout/layout.hpp"
#include "tilewright/tensor/tensor.hpp"

namespace {

using namespace tw;

constexpr layout sw128 = swizzled(make_swizzle(3, 3, 3), "(8,64):(64,1)"_L);

/// Aligned memory of a layout, numbered from `from`.
template <layout L>
struct numbered {
  alignas(128) std::int16_t cells[cosize(L)];
  tensor<std::int16_t, L, smem.aligned(128)> t{cells};

  explicit numbered(std::int16_t from) { std::iota(cells, cells + cosize(L), from); }
};

/// Law: after copy(a, b), b(i) == a(i), and what b does not reach is as it was. The result is
/// whether it holds; no test macro is instantiated for each pair of layouts.
template <layout A, layout B>
bool copies() {
  numbered<A> const a(1);
  numbered<B> b(-20000);
  numbered<B> slow(-20000);
  copy(a.t, b.t);
  for (int i = 0; i < size(A); ++i) slow.cells[B(i)] = a.cells[A(i)];
  return std::equal(b.cells, b.cells + cosize(B), slow.cells);
}

/// Pairs of layouts of one shape, chosen by a number at compile time.
struct layout_pair {
  layout a, b;
};
constexpr layout_pair random_pair(unsigned seed) {
  auto const below = [&seed](int n) {
    seed = seed * 1664525U + 1013904223U;
    return static_cast<int>((seed >> 16) % static_cast<unsigned>(n));
  };
  tree shape;
  for (int i = 0; i < 2; ++i) {
    int const n = 1 << (1 + below(3));
    detail::append(shape, below(2) == 0 ? tree(2 * n) : make_tree(2, below(3) == 0 ? 3 : n));
  }
  detail::wrap(shape);
  layout_pair p;
  for (layout* l : {&p.a, &p.b}) {
    tree order = shape;
    for (int i = 0; i < order.n; ++i) order.leaf[i] = num{below(4)};
    *l = make_ordered_layout(shape, order);
    if (below(3) == 0) l->stride[below(l->shape.n)].v *= 4;
    if (below(3) == 0) *l = coalesce(*l, make_tree(0, 0));
    if (below(3) == 0) *l = swizzled(make_swizzle(1 + below(2), below(4), 2), *l);
  }
  return p;
}
template <unsigned Seed>
constexpr layout_pair pair_of = random_pair(Seed);

template <unsigned... Seeds>
std::vector<unsigned> wrong_copies(std::integer_sequence<unsigned, Seeds...>) {
  std::vector<unsigned> wrong;
  ((copies<pair_of<Seeds>.a, pair_of<Seeds>.b>() ? void() : wrong.push_back(Seeds)), ...);
  return wrong;
}

TEST(Copy, IsElementwiseForRandomLayouts) {
  for (unsigned seed : wrong_copies(std::make_integer_sequence<unsigned, 32>())) {
    layout_pair const p = random_pair(seed);
    ADD_FAILURE() << print(p.a).text << " to " << print(p.b).text;
  }
}

/// Width of a copy between two layouts of 16-bit elements, aligned to 128 bytes.
template <layout A, layout B, space S = smem.aligned(128)>
constexpr int width = copy_width(tensor<bf16, A, S>{nullptr}, tensor<bf16, B, S>{nullptr});

static_assert(width<"(8,4):(4,1)"_L, "(8,4):(36,1)"_L> == 4);
static_assert(width<"(8,4):(4,1)"_L, "(8,4):(4,1)"_L> == 8);  // rows follow each other
static_assert(width<"(8,4):(1,8)"_L, "(8,4):(4,1)"_L> == 1);
static_assert(width<"(8,6):(6,1)"_L, "(8,6):(6,1)"_L> == 2);  // 6 elements: runs of 2 at 6 r
static_assert(width<"(64,64):(64,1)"_L, tile_to_shape(sw128, make_shape(64, 64))> == 8);
static_assert(width<"(64,64):(64,1)"_L, "Sw<3,2,3> o 0 o (64,64):(64,1)"_L> == 4);
static_assert(width<"(4,8):(8,1)"_L, "(4,8):(8,1)"_L, smem.aligned(4)> == 2);
static_assert(width<"(4,8):(8,1)"_L, "(4,8):(8,1)"_L, smem> == 1);

TEST(Copy, FromAMatrixOfRunTimePitch) {
  alignas(16) float cells[16 * 40];
  std::iota(cells, cells + 640, 0.0F);
  auto const a = local_tile<tile(8, 16)>(gmem_view<16>(cells, 15, 33, 40), 1, 1);
  fragment<float, "(8,16):(16,1)"_L> f;
  EXPECT_EQ(copy_width(a, f), 4);
  copy(a, f);
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 16; ++j) ASSERT_EQ(f(i, j), static_cast<float>((8 + i) * 40 + 16 + j));
  }
  auto const unknown = local_tile<tile(8, 16)>(gmem_view(cells, 15, 33, 40), 1, 1);
  EXPECT_EQ(copy_width(unknown, f), 1);
}

TEST(Copy, OfThreadPartsFillsASwizzledTile) {
  constexpr layout stile = tile_to_shape(sw128, make_shape(32, 64));
  constexpr layout tv = "((8,16),8):((128,1),16)"_L;
  alignas(1024) std::int16_t buffer[32 * 64] = {};
  alignas(16) std::int16_t cells[32 * 72];
  std::iota(cells, cells + 32 * 72, std::int16_t{0});
  auto const s = make_tensor<stile>(make_smem_ptr<1024>(buffer));
  auto const g = local_tile<tile(32, 64)>(gmem_view<16>(cells, 32, 64, 72), 0, 0);
  for (int thread = 0; thread < 128; ++thread) {
    auto const from = partition<tile(16, 64), tv>(g, thread);
    auto const to = partition<tile(16, 64), tv>(s, thread);
    auto held = fragment_like(from);
    static_assert(copy_width(from, to) == 8 && copy_width(from, held) == 8);
    copy(from, held);
    copy(held, to);
  }
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 64; ++j) ASSERT_EQ(s(i, j), cells[i * 72 + j]);
  }
}

TEST(Copy, IfThePredicateHolds) {
  int from[12];
  int to[12] = {};
  std::iota(from, from + 12, 1);
  tensor<int, "(3,4):(4,1)"_L> const a{from};
  tensor<int, "(3,4):(1,3)"_L> const b{to};
  auto const p = inside(identity_like(a), 2, 3);
  copy_if(p, a, b);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(b(i, j), i < 2 && j < 3 ? a(i, j) : 0);
  }
}

TEST(Vec, PacketsAreNeighbours) {
  numbered<"(4,(2,8)):(32,(16,1))"_L> m(0);
  auto const v = vec<8>(m.t);
  expect_shape<4, 2>(v);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 8; ++k) EXPECT_EQ(&v(i, j)[k], &m.t(i, crd(j, k)));
    }
  }
  constexpr layout stile = tile_to_shape(sw128, make_shape(16, 64));
  numbered<stile> s(0);
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      EXPECT_EQ(&vec<8>(s.t)(i, j)[3], &s.t(i, 8 * j + 3));
      EXPECT_EQ(&vec<4>(s.t)(i, _)(2 * j)[3], &s.t(i, 8 * j + 3));
      EXPECT_EQ(&vec<8>(s.t(i, _))(j)[0], &s.t(i, 8 * j));
    }
  }
  numbered<"Sw<2,2,3> o 0 o (12,8):(8,1)"_L> c(0);  // carries: counted in elements
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(&vec<4>(c.t(i, _))(1)[2], &c.t(i, 6));
    EXPECT_EQ(&vec<2>(c.t)(i, 3)[1], &c.t(i, 7));
  }
}

TEST(Vec, CarriedOffsetsAreScaled) {
  constexpr layout l = "Sw<1,2,1> o 0 o (3,4,4):(20,4,1)"_L;  // 20 = 16 + 4: bits are shared
  numbered<l> m(0);
  static_assert(!decltype(m.t)::own_bits);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      EXPECT_EQ(&vec<4>(m.t(i, _, _))(j, 0)[1], &m.t(i, j, 1));
      EXPECT_EQ(&vec<4>(m.t)(i, j, _)(0)[1], &m.t(i, j, 1));
    }
  }
}

TEST(Vec, RecastSeesTheSameBytes) {
  numbered<"(4,8):(8,1)"_L> m(0);
  auto const wide = recast<std::uint32_t>(m.t);
  expect_shape<4, 4>(wide);
  EXPECT_EQ(static_cast<void*>(&wide(2, 3)), &m.t(2, 6));
  auto const narrow = recast<std::uint8_t>(m.t);
  expect_shape<4, 16>(narrow);
  EXPECT_EQ(static_cast<void*>(&narrow(2, 6)), &m.t(2, 3));
  auto const same = recast<bf16>(m.t);
  EXPECT_EQ(static_cast<void*>(&same(3, 1)), &m.t(3, 1));
}

TEST(Fragment, OwnsPackedElements) {
  numbered<"(2,(2,4)):(64,(1,8))"_L> m(0);
  auto f = fragment_like(m.t);
  static_assert(sizeof(f) == 32 && decltype(f)::align_bytes == 16);
  auto g = fragment_like<float>(m.t);
  static_assert(sizeof(g) == 64);
  copy(m.t, f);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 8; ++j) EXPECT_EQ(f(i, j), m.t(i, j));
  }
  auto const& constant = f;
  static_assert(std::is_same_v<decltype(constant(0, 0)), std::int16_t const&>);
  EXPECT_EQ(constant(1, _)(3), m.t(1, 3));
}

}  // namespace
