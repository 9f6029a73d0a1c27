// SPDX-License-Identifier: Apache-2.0
// recast_test.cpp  One memory in wider or narrower elements.
#include <gtest/gtest.h>

#include <set>

#include "tests/law/laws.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

// the offset stays, also if no bit of the swizzle is left
static_assert(upcast("Sw<1,0,1> o 8 o 4:1"_L, 4)(0) == 2);
static_assert(downcast("Sw<0,0,0> o 3 o 4:1"_L, 2)(1) == 7);
static_assert(upcast("(8,4):(4,1)"_L, 2) == "(8,2):(2,1)"_L);
static_assert(downcast("(8,2):(2,1)"_L, 2) == "(8,4):(4,1)"_L);
static_assert(recast("(4):(1)"_L, 128, 128) == "(4):(1)"_L);
static_assert(recast("(4,(16,2)):(1,(8,4))"_L, 8, 1) == "(32,(16,2)):(1,(64,32))"_L);
static_assert(upcast("Sw<3,4,3> o 0 o (8,128):(128,1)"_L, 2) == "Sw<3,3,3> o 0 o (8,64):(64,1)"_L);
static_assert(downcast("1:0"_L, 1) == "1:0"_L);

TEST(Recast, UpcastLaw) {
  holds_often(181, 100000, [](random_source& r) {
    layout l = random_layout(r, 48);
    i64 const n = i64{1} << r.below(3);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(3)), 2), l);
    layout const wide = upcast(l, n);
    std::set<i64> elements;
    std::set<i64> before;
    for (i64 i = 0; i < size(wide); ++i) elements.insert(wide(i));
    for (i64 i = 0; i < size(l); ++i) before.insert(l(i) / n);
    ASSERT_EQ(elements, before) << to_string(l) << " by " << n;
  });
}

TEST(Recast, DowncastLaw) {
  holds_often(182, 100000, [](random_source& r) {
    layout l = random_layout(r, 24);
    i64 const n = i64{1} << r.below(3);
    if (r.one_in(3)) l = swizzled(make_swizzle(1, static_cast<int>(r.below(3)), 2), l);
    layout const narrow = downcast(l, n);
    std::set<i64> elements;
    std::set<i64> before;
    for (i64 i = 0; i < size(narrow); ++i) elements.insert(narrow(i));
    for (i64 i = 0; i < size(l); ++i) {
      for (i64 k = 0; k < n; ++k) before.insert(l(i) * n + k);
    }
    ASSERT_EQ(elements, before) << to_string(l) << " by " << n;
    ASSERT_TRUE(meaning::same_function(upcast(narrow, n), l)) << to_string(l) << " by " << n;
  });
}

TEST(Recast, Refuses) {
  auto const code = [](auto const& f) {
    try {
      f();
    } catch (rejected const& e) {
      return e.why().code;
    }
    return std::string();
  };
  EXPECT_EQ(code([] { upcast("(4,2):(3,12)"_L, 2); }), "TW0126");
  EXPECT_EQ(code([] { upcast("(2,2):(2,2)"_L, 4); }), "TW0128");
  EXPECT_EQ(code([] { downcast("(4,2):(2,8)"_L, 2); }), "TW0127");
  EXPECT_EQ(code([] { downcast("(2,2):(1,1)"_L, 2); }), "TW0127");
}

}  // namespace
