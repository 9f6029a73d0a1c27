// SPDX-License-Identifier: Apache-2.0
// inverse_test.cpp  Offsets back to indices.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(right_inverse("(4,8):(8,1)"_L) == "(8,4):(4,1)"_L);
static_assert(left_inverse("(3,3,(5,3)):(4,48,(2592,288))"_L) == "(4,12,6,9,5):(0,1,3,45,9)"_L);
static_assert(nullspace("(8,16):(1,0)"_L) == "16:8"_L);
static_assert(left_inverse("Sw<1,2,3> o 0 o (4,16):(16,1)"_L) == "Sw<1,1,-3> o 0 o (16,4):(4,1)"_L);

std::string code(layout (*f)(layout const&), layout const& l) {
  try {
    return to_string(f(l));
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(Inverse, RightInverseLaw) {
  holds_often(161, 100000, [](random_source& r) {
    layout l = random_layout(r, 64);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(2)), 2), l);
    layout const inverse = right_inverse(l);
    for (i64 i = 0; i < size(inverse); ++i) ASSERT_EQ(l(inverse(i)), i) << to_string(l);
  });
}

TEST(Inverse, LeftInverseLaw) {
  int injective = 0;
  holds_often(162, 100000, [&injective](random_source& r) {
    layout l = random_layout(r, 64);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(2)), 2), l);
    layout const inverse = left_inverse(l);
    std::set<i64> offsets;
    for (i64 i = 0; i < size(l); ++i) {
      ASSERT_EQ(l(inverse(l(i))), l(i)) << to_string(l) << " " << to_string(inverse);
      offsets.insert(l(i));
    }
    if (std::ssize(offsets) < size(l)) return;
    ++injective;
    for (i64 i = 0; i < size(l); ++i) ASSERT_EQ(inverse(l(i)), i) << to_string(l);
  });
  EXPECT_GT(injective, tw::test::sample(30000));
}

TEST(Inverse, NullspaceLaw) {
  holds_often(163, 100000, [](random_source& r) {
    layout const l = random_layout(r, 64);
    layout const n = nullspace(l);
    for (i64 i = 0; i < size(n); ++i) ASSERT_EQ(l(n(i)), 0) << to_string(l);
    ASSERT_EQ(size(n) * size(filter_zeros(l)), size(l)) << to_string(l);
  });
}

TEST(Inverse, Refuses) {
  EXPECT_EQ(code(left_inverse, "(2,2):(2,3)"_L), "TW0125");
  EXPECT_EQ(code(left_inverse, "4:-1"_L), "TW0109");
  EXPECT_EQ(code(left_inverse, "Sw<1,0,1> o 0 o (3,4):(4,1)"_L), "TW0116");
}

/// Every swizzle of at most 3 bits, and none.
std::vector<swizzle> small_swizzles() {
  std::vector<swizzle> all{swizzle{}};
  for (int bits = 1; bits <= 3; ++bits) {
    for (int base = 0; base <= 6; ++base) {
      for (int shift = -4; shift <= 4; ++shift) {
        if (magnitude(shift) >= bits) all.push_back(make_swizzle(bits, base, shift));
      }
    }
  }
  return all;
}

/// The inverse of a swizzled layout must be answered wherever a swizzle after the inverse of the
/// layout without it is right: an operation that only refuses would keep every other law.
template <class Inverse, class Right>
void answers_where_one_exists(std::uint64_t seed, Inverse const& inverse, Right const& right) {
  random_source r(seed);
  int answers = 0, edges = 0;
  for (int i = 0; i < 4000; ++i) {
    int const modes = 1 + static_cast<int>(r.below(3));
    tree shape, order;
    for (int k = 0; k < modes; ++k) {
      detail::append(shape, tree(i64{1} << r.below(4)));
      detail::append(order, tree(r.below(4)));
    }
    detail::wrap(shape);
    detail::wrap(order);
    layout l = make_ordered_layout(shape, order);
    auto const all = small_swizzles();
    swizzle const s = all[static_cast<std::size_t>(r.below(std::ssize(all)))];
    layout const swizzled_layout = swizzled(s, l);
    layout const plain_inverse = inverse(l);
    // A swizzle that acts inside of the layout, or reads no bit of it at all.
    bool const inside = (s.y_mask() | s.z_mask()) < size(l);
    if (!inside && (s.y_mask() & -s.y_mask()) < size(l) && s.shift < 0) continue;
    bool exists = false;
    for (swizzle const& t : all) {
      exists = exists || right(swizzled_layout, swizzled(t, plain_inverse));
    }
    if (!exists) continue;
    ++answers;
    edges += (s.y_mask() & -s.y_mask()) == size(l) ? 1 : 0;
    try {
      layout const answer = inverse(swizzled_layout);
      ASSERT_TRUE(right(swizzled_layout, answer))
          << to_string(swizzled_layout) << " -> " << to_string(answer);
      ASSERT_EQ(size(answer), size(plain_inverse)) << to_string(swizzled_layout);
    } catch (rejected const& e) {
      FAIL() << "seed " << seed << ": " << to_string(swizzled_layout) << ": " << e.what();
    }
  }
  EXPECT_GT(answers, 1000);
  EXPECT_GT(edges, 20);  // swizzles that read exactly the first bit beyond the layout
}

TEST(Inverse, OfASwizzledLayoutIsAnsweredWhereItExists) {
  answers_where_one_exists(
      77, [](layout const& l) { return right_inverse(l); },
      [](layout const& l, layout const& inverse) {
        for (i64 i = 0; i < size(inverse); ++i) {
          if (l(inverse(i)) != i) return false;
        }
        return true;
      });
  answers_where_one_exists(
      78, [](layout const& l) { return left_inverse(l); },
      [](layout const& l, layout const& inverse) {
        for (i64 i = 0; i < size(l); ++i) {
          if (inverse(l(i)) != i) return false;
        }
        return true;
      });
}

// Layouts with gaps, whose swizzle moves whole bits.
static_assert(left_inverse("Sw<1,0,1> o 0 o (4,4):(8,1)"_L) == "Sw<1,2,1> o 0 o (8,4):(4,1)"_L);

}  // namespace
