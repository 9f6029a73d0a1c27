// SPDX-License-Identifier: Apache-2.0
// text_test.cpp  Parse and print are inverse; mistakes are refused where they are.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr bool prints_as(layout const& l, std::string_view text) {
  printed const p = print(l);
  return std::string_view(p.text, static_cast<std::size_t>(p.length)) == text;
}
static_assert(prints_as("((2,4),8) : ((1,16),2)"_L, "((2,4),8):((1,16),2)"));
static_assert(prints_as("Sw<3,4,3> o 0 o (8,64):(64,1)"_L, "Sw<3,4,3> o 0 o (8,64):(64,1)"));
static_assert(prints_as("(4,8)"_L, "(4,8):(1,4)"), "no stride: column-major");
static_assert(prints_as("Sw<0,4,3> o 0 o 8:1"_L, "8:1"), "a swizzle of no bits is no swizzle");
static_assert("(_4,_8):(_8,_1)"_L == "(4,8):(8,1)"_L, "the mark of a static integer is read over");

// units: a basis stride names a position, inner index first
static_assert("(4,(2,8)):(1@0,(1@0@1,1@1@1))"_L ==
              make_identity_layout(make_tree(4, make_tree(2, 8))));
static_assert(is_basis("2:3@1"_L.stride[0]) && "2:0@1"_L == "2:0"_L);

TEST(Text, RoundTrip) {
  holds_often(21, 100000, [](random_source& r) {
    layout l = random_layout(r);
    if (r.one_in(3)) l = swizzled(make_swizzle(2, static_cast<int>(r.below(4)), 3), l);
    if (r.one_in(3)) l.stride[0] = num{5, 0x12};
    std::string const text = to_string(l);
    ASSERT_EQ(parse_layout(text.data(), static_cast<int>(text.size())), l) << text;
  });
}

TEST(Text, TilersRoundTrip) {
  for (std::string const text : {"8", "_", "2:1", "(2:1,8)", "(_,(2,4))", "((2,2):(1,4),_,(4:2,1))",
                                 "(8,4):(1,8)", "((4):(1),2)"}) {
    EXPECT_EQ(to_string(parse_tiler(text.data(), static_cast<int>(text.size()))), text);
  }
}

TEST(Text, MistakesAreRefusedWhereTheyAre) {
  struct mistake {
    std::string_view text;
    std::string_view code;
    std::string_view got;
  };
  for (mistake const m :
       {mistake{"(4,8:(8,1)", "TW0101", "position 5"},
        mistake{"(4,8):(8,1))", "TW0101", "position 12"}, mistake{"(4,8):(8,1,2)", "TW0110", "3"},
        mistake{"(4,x):(8,1)", "TW0101", "position 4"}, mistake{"(4,0):(1,4)", "TW0114", "0"},
        mistake{"", "TW0101", "position 1"},
        mistake{"99999999999999999999:1", "TW0101", "position"}, mistake{"4:1@15", "TW0117", "15"},
        mistake{"Sw<3,4,1> o 0 o 8:1", "TW0115", "1"}}) {
    try {
      parse_layout(m.text.data(), static_cast<int>(m.text.size()));
      ADD_FAILURE() << m.text << " was accepted";
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, m.code) << m.text;
      EXPECT_NE(e.why().got.find(m.got), std::string::npos) << m.text << ": " << e.what();
    }
  }
}

/// Any bytes are parsed or refused, never more.
TEST(Text, AnyBytes) {
  random_source r(22);
  constexpr std::string_view alphabet = "()(),,:::_@0123456789Sw<>o -x";
  int accepted = 0;
  for (int i = 0; i < tw::test::sample(50000); ++i) {
    std::string text;
    for (i64 n = r.below(14); n > 0; --n) text += alphabet[static_cast<std::size_t>(r.below(29))];
    try {
      layout const l = parse_layout(text.data(), static_cast<int>(text.size()));
      std::string const again = to_string(l);
      ASSERT_EQ(parse_layout(again.data(), static_cast<int>(again.size())), l) << text;
      ++accepted;
    } catch (rejected const&) {
    }
  }
  EXPECT_GT(accepted, tw::test::sample(20));
}

}  // namespace
