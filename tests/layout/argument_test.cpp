// SPDX-License-Identifier: Apache-2.0
// argument_test.cpp  Leaves known at run time: arithmetic, text, binding, refusals.
#include <gtest/gtest.h>

#include <string>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

namespace guide {  // docs/layouts.md

constexpr layout matrix = "($0,$1):($2,1)"_L;  // rows, columns, pitch: row_major_view()
constexpr layout tiles = zipped_divide(matrix, tile(128, 64));
static_assert(tiles == "((128,64),($0/128,$1/64)):(($2,1),(128$2,64))"_L);

constexpr i64 at(arguments<3> const& sizes, int row, int column) {  // in a kernel
  return offset<matrix>(sizes, row, column);
}
constexpr layout with_numbers = bound(tiles, arguments<3>{{1000, 300, 304}});
static_assert(with_numbers == "((128,64),(8,5)):((304,1),(38912,64))"_L);
static_assert(at({{1000, 300, 304}}, 2, 5) == 613);

}  // namespace guide

constexpr layout matrix = row_major_view();
static_assert(matrix == "($0,$1):($2,1)"_L && arguments_of(matrix) == 3 && !is_static(matrix));
static_assert(col_major_view() == "($0,$1):(1,$2)"_L);
static_assert(compact_row_major_view() == "($0,$1):($1,1)"_L);
static_assert(compact_col_major_view() == "($0,$1):(1,$0)"_L);
static_assert(is_static("(4,8):(8,1)"_L) && is_static(make_tree(4, any)));

// The tensor of a GEMM, cut: ceil($0/128) tile rows, ceil($1/64) tile columns.
static_assert(zipped_divide(matrix, tile(128, 64)) ==
              "((128,64),($0/128,$1/64)):(($2,1),(128$2,64))"_L);
static_assert(bound(zipped_divide(matrix, tile(128, 64)), arguments<3>{{1000, 300, 304}}) ==
              "((128,64),(8,5)):((304,1),(38912,64))"_L);

// merged only where it holds for every value
static_assert(coalesce("(4,$0):(1,4)"_L) == "4$0:1"_L);
static_assert(coalesce("(4,$0):(1,$1)"_L) == "(4,$0):(1,$1)"_L);
static_assert(coalesce("($0,1,4):(3,7,3$0)"_L) == "4$0:3"_L);
static_assert(make_layout_left(make_tree(4, arg(0), 2)) == "(4,$0,2):(1,4,4$0)"_L);
static_assert(composition("($0,8):(8,1)"_L, tile(16, 4)) == "(16,4):(8,1)"_L);
static_assert(composition("($0,8):($1,1)"_L, "($0,2):(1,$0)"_L) == "($0,2):($1,1)"_L);
static_assert(upcast("($0,8$1):(8$2,1)"_L, 8) == "($0,$1):($2,1)"_L);
static_assert(max_alignment("($0,8$1):(16$2,1)"_L) == 8 && max_alignment(matrix) == 1);
static_assert(ceil_div(make_tree(arg(0), arg(1)), make_tree(128, 64)) ==
              make_tree(arg(0, 128), arg(1, 64)));

/// A number, or v * ceil(argument / divisor).
num random_num(random_source& r) {
  num const a = r.one_in(3) ? num{1} : arg(static_cast<int>(r.below(16)), 1 + r.below(300));
  return times(a, 1 + r.below(20));
}

TEST(Argument, ArithmeticIsThatOfTheValues) {
  holds_often(31, 100000, [](random_source& r) {
    i64 values[max_arguments];
    for (i64& v : values) v = 1 + r.below(5000);
    num const a = random_num(r);
    num const b = random_num(r);
    i64 const x = value_of(a, values);
    i64 const n = 1 + r.below(60);
    ASSERT_EQ(value_of(times(a, n), values), x * n);
    if (quotient const q = divided(a, b); q.exact) {
      ASSERT_EQ(value_of(q.value, values) * value_of(b, values), x);
    }
    if (can_multiply(a, b)) {
      ASSERT_EQ(value_of(times(a, b), values), x * value_of(b, values));
    }
    ASSERT_GE(x, least(a));
    ASSERT_EQ(value_of(ceil_div(a, n), values), (x + n - 1) / n);
  });
}

TEST(Argument, QuotientOfExtents) {
  holds_often(32, 20000, [](random_source& r) {
    i64 values[max_arguments];
    for (i64& v : values) v = 1 + r.below(50);
    num const a = random_num(r);
    num const b = random_num(r);
    i64 const y = value_of(b, values);
    ASSERT_EQ(value_of(ceil_div(a, b), values), (value_of(a, values) + y - 1) / y);
  });
}

TEST(Argument, TextRoundTrip) {
  random_source r(33);
  for (int i = 0; i < tw::test::sample(100000); ++i) {
    layout l = random_layout(r);
    for (int k = 0; k < l.shape.n; ++k) {
      if (r.one_in(2)) l.shape.leaf[k] = random_num(r);
      if (r.one_in(2)) l.stride[k] = times(random_num(r), r.one_in(3) ? -1 : 1);
    }
    std::string const text = to_string(l);
    ASSERT_EQ(parse_layout(text.data(), static_cast<int>(text.size())), l) << text;
  }
  EXPECT_EQ(to_string(layout(arg(3, 128), times(arg(0), -1))), "$3/128:-$0");
  EXPECT_EQ(to_string(tree(times(arg(15, 7), 8))), "8$15/7");
}

TEST(Argument, NeverReadAsANumber) {
  struct question {
    char const* code;
    void (*ask)();
  };
  for (question const& q : {
           question{"TW0129", [] { cosize(matrix); }},
           question{"TW0129", [] { size(mode(matrix, 0)); }},
           question{"TW0129", [] { matrix(3, 4); }},
           question{"TW0129", [] { matrix.extent(0); }},
           question{"TW0129", [] { crd2idx(make_tree(1, 0), matrix); }},
           question{"TW0129", [] { idx2crd(3, matrix.shape); }},
           question{"TW0129", [] { compatible(make_tree(4, arg(1)), matrix.shape); }},
           question{"TW0129", [] { elem_less(make_tree(0, 0), matrix.shape); }},
           question{"TW0129", [] { filter(matrix); }},
           question{"TW0129", [] { nullspace(matrix); }},
           question{"TW0129", [] { slice(matrix, make_tree(2, any)); }},
           question{"TW0129", [] { local_tile(matrix, tile(8, 8), make_tree(1, 0)); }},
           question{"TW0130", [] { complement(mode(matrix, 0), 64); }},
           question{"TW0129", [] { zipped_divide(matrix, tile(layout(arg(0), num{1}))); }},
           question{"TW0129", [] { domain_distribute(matrix.shape, 32); }},
           question{"TW0129", [] { parse_tiler("($0,4)", 6); }},
           question{"TW0130", [] { product_of(matrix); }},
           question{"TW0130", [] { make_layout_left(make_tree(arg(0), arg(1), 2)); }},
           question{"TW0131", [] { logical_divide(matrix, 8); }},
           question{"TW0131", [] { composition("($0,8):(8,1)"_L, 128); }},
           question{"TW0131", [] { logical_divide("($0,8):(8,1)"_L, 4); }},
           question{"TW0132", [] { upcast(matrix, 8); }},
           question{"TW0132", [] { shape_div(matrix.shape, make_tree(128, 64)); }},
           question{"TW0132", [] { ceil_div(make_tree(times(arg(0), 8)), tree(12)); }},
           question{"TW0133", [] { make_layout_like(matrix); }},
           question{"TW0133", [] { complement("(2,2):($0,$1)"_L, 64); }},
           question{"TW0134", [] { arg(16); }},
           question{"TW0134", [] { arg(0, i64{1} << 27); }},
           question{"TW0134",
                    [] {
                      bound(matrix, arguments<2>{{1, 2}});
                    }},
           question{"TW0134", [] { parse_layout("$16:1", 5); }},
           question{"TW0114",
                    [] {
                      bound(matrix, arguments<3>{{4, 0, 8}});
                    }},
       }) {
    try {
      q.ask();
      ADD_FAILURE() << "accepted, " << q.code << " expected";
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, q.code) << e.what();
    }
  }
}

}  // namespace
