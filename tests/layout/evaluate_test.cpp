// SPDX-License-Identifier: Apache-2.0
// evaluate_test.cpp  Coordinates, indices, offsets, cosize; offsets that are coordinates.
#include <gtest/gtest.h>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr layout nested = "((2,4),8):((1,16),2)"_L;
static_assert(nested(5) == 33 && nested(5, 0) == 33 && nested(make_coord(1, 2), 0) == 33);
static_assert(nested(make_coord(5, 3)) == 39 && nested(5, 3) == 39);
/// L(idx2crd(i)) == L(i), and the coordinate's index is i.
constexpr bool coordinate_law(layout const& l) {
  for (i64 i = 0; i < size(l); ++i) {
    tree const c = idx2crd(i, l.shape);
    if (l(c) != meaning::at(l, i) || crd2idx(c, l.shape) != i) return false;
  }
  return true;
}
static_assert(coordinate_law("((2,3),4):((5,1),7)"_L));
static_assert(crd2idx(make_coord(make_coord(1, 2), 1), make_shape(make_shape(3, 8), 4)) == 31);
static_assert(idx2crd(8, make_shape(5, 1, 10)) == make_coord(3, 0, 1));
static_assert("4:2"_L(7) == 14, "the last extent does not bound");
static_assert("(4,8):(8,1)"_L(-5) == -9, "negative indices divide towards zero: -1 and -1");
static_assert("4:8589934592"_L(3) == 3 * 8589934592, "64-bit strides");
static_assert(cosize("(4,10,6):(60,6,1)"_L) == 240 && cosize("4:-1"_L) == 4);

// basis: offsets are coordinates
static_assert(coordinate_at("((2,2),8):((1@0,2@0),1@1)"_L, 7) == make_coord(3, 1));
static_assert(coordinate_at(make_identity_layout(make_shape(4, make_shape(2, 8))), 45) ==
              make_coord(1, make_coord(1, 5)));

TEST(Evaluate, CoordinatesLaw) {
  holds_often(101, 100000, [](random_source& r) {
    layout const a = random_layout(r, 24);
    ASSERT_TRUE(coordinate_law(a)) << to_string(a);
  });
}

TEST(Evaluate, IdentityGivesTheCoordinateBack) {
  holds_often(102, 100000, [](random_source& r) {
    tree const shape = random_shape(r, 24);
    layout const id = make_identity_layout(shape);
    i64 const i = r.below(size(shape));
    ASSERT_EQ(shape.is_leaf() ? tree(id(i)) : coordinate_at(id, i), idx2crd(i, shape))
        << to_string(shape);
  });
}

TEST(Evaluate, Refuses) {
  auto const code = [](auto const& f) {
    try {
      f();
    } catch (rejected const& e) {
      return e.why().code;
    }
    return std::string();
  };
  EXPECT_EQ(code([] { nested(make_coord(1, 2, 3)); }), "TW0110");
  EXPECT_EQ(code([] { make_identity_layout(make_shape(2, 2))(1); }), "TW0109");
  EXPECT_EQ(code([] { coordinate_at("(2,2):(1,1@0)"_L, 1); }), "TW0117");
  EXPECT_EQ(code([] { coordinate_at("(2,2):(1@0,1@0@0)"_L, 1); }), "TW0117");
  EXPECT_EQ(code([] { layout(4, i64{1} << 62)(3); }), "TW0113");
}

static_assert(idx2crd(13, make_tree(4, 8), make_tree(8, 1)) == make_tree(1, 5));
static_assert(idx2crd(7, make_tree(4, 2), make_tree(0, 1)) == make_tree(0, 1));
static_assert(crd2idx(make_tree(1, 5), make_tree(4, 8), make_tree(8, 1)) == 13);

// coordinates as offsets: paths, the box that holds them, tiles of a tensor of unknown shape
static_assert(basis(1, 0) == "2:1@0@1"_L.stride[0] && basis(0) == "2:1@0"_L.stride[0]);
static_assert(coshape("((2,4),8):((1@0,2@0),1@1)"_L) == make_tree(8, 8));
static_assert(coshape("(4,8):(8,1)"_L) == tree(32));
static_assert(moved_by(make_tree(0, make_tree(0, 5)), "(4,8):(1@0,2@1@1)"_L, make_tree(3, 2)) ==
              make_tree(3, make_tree(0, 9)));

}  // namespace
