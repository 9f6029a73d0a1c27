// SPDX-License-Identifier: Apache-2.0
// parser_test.cpp  Damaged texts: a value whose print is read back, or a refusal with a position.
#include <cstring>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"
#include "tilewright/atom/call.hpp"

namespace {

using namespace tw;
using namespace tw_test;

char const* const seeds[] = {
    "(4,8):(8,1)",
    "((2,4),8):((1,16),2)",
    "Sw<3,4,3> o 0 o (8,64):(64,1)",
    "Sw<2,0,-3> o 17 o ((8),(4,2)):((1),(8,64))",
    "(4,(2,3)):(1@0,(1@0@1,1@1@1))",
    "($0,$1):($2,1)",
    "(8$0/128,4):(1,128$2)",
    "(_,(2:1,_),4)",
    "((4,8):(8,1),_,2:2)",
    "-12",
    "1@0@1",
    "()",
    "(((((((((((((((2)))))))))))))))",
    "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)",
    "composition((4,8):(8,1), 4:2)",
    "zipped_divide(composition((4,8):(8,1), (2,4)), (2,_))",
    "logical_product(Sw<1,0,1> o 0 o (2,2):(2,1), 3)",
    "slice((4,8):(8,1), (2,_))",
    "crd2idx((1,(2,1)), (4,(3,5)))",
    "tile_to_shape((8,8):(8,1), (64,64), (1,0))",
};

/// One edit, of a kind that keeps texts near the notation.
void damage(std::string& text, random_source& r) {
  static char const* const pieces[] = {"(",
                                       ")",
                                       ",",
                                       ":",
                                       "_",
                                       "@",
                                       "$",
                                       "/",
                                       "-",
                                       "<",
                                       ">",
                                       " ",
                                       " o ",
                                       "Sw<",
                                       "0",
                                       "1",
                                       "64",
                                       "99999999999999999999",
                                       "1125899906842624",
                                       "((",
                                       "))",
                                       ":1",
                                       "@14",
                                       "@15",
                                       "$16"};
  auto const size = static_cast<std::int64_t>(text.size());
  auto const at = static_cast<std::size_t>(r.below(size + 1));
  switch (r.below(6)) {
    case 0: text.insert(at, pieces[r.below(std::size(pieces))]); break;
    case 1: text.erase(at, static_cast<std::size_t>(1 + r.below(4))); break;
    case 2: text.insert(at, text.substr(static_cast<std::size_t>(r.below(size + 1)), 12)); break;
    case 3: text.resize(at); break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(r.below(256));
      break;
    default:
      if (at < text.size()) text[at] = "0123456789(),:_@$/<>-oSw"[r.below(24)];
  }
}

std::string random_text(random_source& r) {
  std::string text = seeds[r.below(std::size(seeds))];
  if (r.one_in(3)) text = to_string(random_layout(r));
  if (r.one_in(20)) text.clear();
  for (std::int64_t edits = r.below(5); edits > 0; --edits) damage(text, r);
  return text;
}

struct outcome {
  std::int64_t accepted = 0, refused = 0, placed = 0;
};

/// A refusal of the notation says where, inside the text or just after it.
void check_refusal(rejection const& why, std::string const& text, outcome& all) {
  ++all.refused;
  std::string const area = why.code.substr(0, 4);
  ASSERT_TRUE(area == "TW01" || area == "TW02") << why.code << " " << text;
  ASSERT_FALSE(why.got.empty() || why.need.empty()) << text;
  if (why.code != "TW0101") return;
  std::size_t const digits = why.got.find_last_not_of("0123456789");
  std::string const number = why.got.substr(digits + 1);
  ASSERT_FALSE(number.empty()) << why.got;
  ASSERT_GE(std::stoll(number), 1) << text;
  ASSERT_LE(std::stoll(number), std::ssize(text) + 1) << text;
  ++all.placed;
}

/// parse(print(parse(text))) is parse(text), of whatever `parse` reads.
template <class Parse>
void read_back(Parse const& parse, std::string const& text, outcome& all) {
  // A copy without spare room: the address sanitizer sees a read one byte too far.
  std::vector<char> const exact(text.begin(), text.end());
  auto const read = [&](std::vector<char> const& t) {
    return parse(t.data(), static_cast<int>(t.size()), 0);
  };
  decltype(read(exact)) value;
  try {
    value = read(exact);
  } catch (rejected const& e) {
    return check_refusal(e.why(), text, all);
  }
  ++all.accepted;
  std::string const printed_text = to_string(value);
  try {
    auto const again = read({printed_text.begin(), printed_text.end()});
    ASSERT_EQ(again, value) << text << " is printed as " << printed_text;
    ASSERT_EQ(to_string(again), printed_text) << text;
  } catch (rejected const& e) {
    FAIL() << text << " is printed as " << printed_text << ", which is refused: " << e.what();
  }
}

TEST(ParserFuzz, PrintAndParseAgreeOrTheRefusalSaysWhere) {
  outcome all;
  std::int64_t const rounds = fuzz(40000, [&all](random_source& r, std::int64_t) {
    std::string const text = random_text(r);
    switch (r.below(4)) {
      case 0: return read_back([](auto... a) { return parse_layout(a...); }, text, all);
      case 1: return read_back([](auto... a) { return parse_tree(a...); }, text, all);
      case 2: return read_back([](auto... a) { return parse_tiler(a...); }, text, all);
      default: return read_back([](auto... a) { return parse_swizzle(a...); }, text, all);
    }
  });
  EXPECT_GT(all.accepted, rounds / 20);
  EXPECT_GT(all.placed, rounds / 4);
}

/// Each was found by the loop above.
TEST(ParserFuzz, FoundInputs) {
  outcome all;
  for (std::string const text : {
           "Sw<3,4,3> o 0 o (8,64):(64,1)",                  // lost its swizzle as a tiler
           "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",    // shifted by 64 bits as a tiler
           "(1,2,5,6,798,9,10,11,12,13,14,151,12,13,1,16)",  // strides of more than 50 bits
           "Sw<3,4,3> o 0 o ()",                             // lost its swizzle
           "(Sw<1,0,1> o 0 o 4:1,2)",                        // lost its swizzle inside a tuple
       }) {
    read_back([](auto... a) { return parse_layout(a...); }, text, all);
    read_back([](auto... a) { return parse_tiler(a...); }, text, all);
  }
  EXPECT_EQ(all.accepted, 6);
  EXPECT_EQ(all.refused, 4);
}

TEST(ParserFuzz, ExpressionsAreAnsweredOrRefused) {
  outcome all;
  std::vector<std::string_view> const names = operations();
  std::int64_t const rounds = fuzz(20000, [&](random_source& r, std::int64_t) {
    std::string text = random_text(r);
    if (r.one_in(2)) {
      std::string call(names[static_cast<std::size_t>(r.below(std::ssize(names)))]);
      call += '(';
      for (std::int64_t i = 0, n = 1 + r.below(3); i < n; ++i) {
        if (i > 0) call += ", ";
        call += r.one_in(3) ? std::to_string(r.below(70) - 5) : to_string(random_layout(r));
      }
      text = call + ')';
      if (r.one_in(3)) damage(text, r);
    }
    std::vector<char> const exact(text.begin(), text.end());
    try {
      answer const a = evaluate({exact.data(), exact.size()});
      ASSERT_FALSE(a.res.empty() && !a.function.has_value()) << text;
      ++all.accepted;
    } catch (rejected const& e) {
      check_refusal(e.why(), text, all);
    }
  });
  EXPECT_GT(all.accepted, rounds / 20);
  EXPECT_GT(all.refused, rounds / 4);
}

}  // namespace
