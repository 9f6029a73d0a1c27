// SPDX-License-Identifier: Apache-2.0
// call_test.cpp  Operations by name, expressions, JSON lines.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"
#include "tools/report/layout_json.hpp"

namespace {

using namespace tw;

std::string answer_to(std::string const& expression) {
  try {
    return evaluate(expression).res;
  } catch (rejected const& e) {
    return e.what();
  }
}

TEST(Call, Expressions) {
  EXPECT_EQ(answer_to("(4,8):(8,1)"), "(4,8):(8,1)");
  EXPECT_EQ(answer_to(" composition( (4,8):(8,1) , 4:2 ) "), "(2,2):(16,1)");
  EXPECT_EQ(
      answer_to("zipped_divide(tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (16,64)), (8,8))"),
      "Sw<3,3,3> o 0 o ((8,8),(2,8)):((64,1),(512,8))");
  EXPECT_EQ(answer_to("size(make_layout((4,8)))"), "32");
  EXPECT_EQ(answer_to("swizzle(Sw<1,0,1>)"), "Sw<1,0,1>");
}

TEST(Call, MistakesSayWhere) {
  EXPECT_TRUE(answer_to("frobnicate(4:1)").starts_with("TW0119: operation: got frobnicate"));
  EXPECT_TRUE(answer_to("coalesce()").starts_with("TW0120: arguments of coalesce: got 0"));
  EXPECT_NE(answer_to("composition((4,8):(8,1), 4:2").find("TW0101"), std::string::npos);
  EXPECT_NE(answer_to("composition((4,8):(8,1), 4:x)").find("position 28"), std::string::npos);
  EXPECT_NE(answer_to("composition(coalesce(4:1), 4:2)x").find("TW0101"), std::string::npos);
  EXPECT_NE(answer_to("idx2crd((1,2), (4,8))").find("TW0101"), std::string::npos);
}

/// Any expression is answered or refused, never more.
TEST(Call, AnyText) {
  tw_test::random_source r(131);
  constexpr std::string_view pieces[] = {
      "composition(", "(4,8)",     ":",       "(8,1)", ",", ")",  " ", "2",
      "size(",        "Sw<1,0,1>", " o 0 o ", "_",     "(", "@0", "-"};
  for (int i = 0; i < tw::test::sample(50000); ++i) {
    std::string text;
    for (i64 n = r.below(9); n > 0; --n) text += pieces[r.below(15)];
    answer_to(text);
  }
}

TEST(Call, JsonLines) {
  std::istringstream in(
      "{\"id\":\"a\",\"op\":\"coalesce\",\"args\":[\"(2,1,6):(1,6,2)\"]}\n"
      "{\"id\":7,\"op\":\"composition\",\"args\":[\"(4,8):(8,1)\",\"6:1\"]}\n"
      "{\"id\":\"c\",\"op\":\"no_such_operation\",\"args\":[]}\n"
      "\n"
      "{\"id\":\"d\"}\n"
      "not json\n");
  std::ostringstream out;
  answer_lines(in, out);
  std::vector<nlohmann::json> lines;
  std::istringstream back(out.str());
  for (std::string line; std::getline(back, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0]["id"], "a");
  EXPECT_EQ(lines[0]["res"], "12:1");
  EXPECT_EQ(lines[0]["n"], 12);
  EXPECT_EQ(lines[0]["offs"][11], 11);
  EXPECT_EQ(lines[1]["id"], 7);
  EXPECT_EQ(lines[1]["error"]["code"], "TW0105");
  EXPECT_EQ(lines[2]["error"]["code"], "TW0119");
  EXPECT_EQ(lines[3]["error"]["code"], "TW0221");
  EXPECT_EQ(lines[4]["error"]["code"], "TW0121");
  EXPECT_EQ(lines[4]["error"].dump().find("json.exception"), std::string::npos);
}

}  // namespace
