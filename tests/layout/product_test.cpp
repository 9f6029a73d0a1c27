// SPDX-License-Identifier: Apache-2.0
// product_test.cpp  A block and its copies.
#include <gtest/gtest.h>

#include <set>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

static_assert(logical_product("4:1"_L, "3:1"_L) == "(4,3):(1,4)"_L);
static_assert(blocked_product("(2,4):(4,1)"_L, "(4,2):(1,4)"_L) ==
              "((2,4),(4,2)):((4,8),(1,32))"_L);
static_assert(raked_product("(2,2):(1,2)"_L, "(3,2):(1,3)"_L) == "((3,2),(2,2)):((4,1),(12,2))"_L);
static_assert(zipped_product("(2,4):(4,1)"_L, "(3,2):(2,1)"_L) == "((2,4),(3,2)):((4,1),(16,8))"_L);
static_assert(logical_product_law("(2,2):(2,1)"_L, "(3,2):(1,3)"_L,
                                  logical_product("(2,2):(2,1)"_L, "(3,2):(1,3)"_L)));

TEST(Product, Law) {
  holds_often(71, 100000, [](random_source& r) {
    layout const a = random_layout(r, 16);
    layout const b = random_layout(r, 8);
    ASSERT_TRUE(logical_product_law(a, b, logical_product(a, b)))
        << to_string(a) << " x " << to_string(b);
  });
}

TEST(Product, CopiesOfAnInjectiveBlockDoNotOverlap) {
  holds_often(72, 100000, [](random_source& r) {
    layout const a = random_layout(r, 16);
    layout const b = random_layout(r, 8);
    layout const p = blocked_product(a, b);
    auto const distinct = [](layout const& l) {
      std::set<i64> all;
      for (i64 i = 0; i < size(l); ++i) all.insert(l(i));
      return std::ssize(all);
    };
    ASSERT_EQ(distinct(p), distinct(a) * distinct(b)) << to_string(a) << " x " << to_string(b);
    ASSERT_EQ(size(raked_product(a, b)), size(p));
    for (int i = 0; i < rank(p); ++i) {
      ASSERT_EQ(size(mode(p, i)), size(mode(detail::padded(a, rank(p)), i)) *
                                      size(mode(detail::padded(b, rank(p)), i)));
    }
  });
}

}  // namespace
