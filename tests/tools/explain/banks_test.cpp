// SPDX-License-Identifier: Apache-2.0
// banks_test.cpp  The verb `tilewright banks`: counts, who collides, proposals, refusals.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

std::vector<std::string> banks(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "banks");
  return arguments;
}

/// The example of docs/banks.md, word by word.
TEST(BanksCommand, PrintsTheExampleOfThePage) {
  auto const r = run_command(banks({"(64,64):(64,1)", "--access", "ldmatrix.x4"}));
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.err, "");
  EXPECT_LE(std::count(r.out.begin(), r.out.end(), '\n'), 12);
  std::string const page = read_file(TW_SOURCE_DIR "/docs/banks.md");
  EXPECT_NE(page.find("$ tilewright banks '(64,64):(64,1)' --access ldmatrix.x4\n" + r.out),
            std::string::npos)
      << r.out;
}

TEST(BanksCommand, SaysThatThereAreNoConflicts) {
  auto const r = run_command(
      banks({"tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (64,64))", "--access", "stmatrix.x4"}));
  EXPECT_EQ(r.status, 0);
  EXPECT_NE(r.out.find("16 instructions: 64 wavefronts, 64 would do, no conflicts\n"),
            std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("swizzle "), std::string::npos) << r.out;
}

TEST(BanksCommand, TakesThreads) {
  std::vector<std::string> const column{"(32,32):(32,1)", "--access", "ld.32", "--bits", "32"};
  auto with = [&](std::vector<std::string> more) {
    auto all = column;
    all.insert(all.end(), more.begin(), more.end());
    all.push_back("--json");
    return run_command(banks(all)).json();
  };
  EXPECT_EQ(with({})["wavefronts"], 32);
  EXPECT_EQ(with({})["steps"], 32);
  auto const strided = with({"--thread-stride", "1"});
  EXPECT_EQ(strided["wavefronts"], 32);
  EXPECT_EQ(strided["steps"], 1);
  EXPECT_EQ(with({"--tv", "(32,1):(1,0)"}), strided);
  EXPECT_EQ(strided["swizzle"]["layout"], "Sw<5,0,5> o 0 o (32,32):(32,1)");
  EXPECT_EQ(strided["padding"]["layout"], "(32,32):(33,1)");
  auto const tma = with({"--thread-stride", "1", "--tma"});
  EXPECT_TRUE(tma["swizzle"].is_null() && tma["padding"].is_null());
  EXPECT_EQ(tma["best"]["wavefronts"], 4);
  EXPECT_TRUE(tma["best"]["hardware"]);
  EXPECT_NE(std::string(tma["why"]).find("7, 8, 9, 10, 11"), std::string::npos);
  // Several warps, more than one access per thread.
  auto const many = with({"--tv", "((32,4),2):((1,256),32)"});
  EXPECT_EQ(many["steps"], 8);
  EXPECT_EQ(many["wavefronts"], 8 * 32);
}

/// A part of a wider tile: the swizzle that helps moves elements to the other parts.
TEST(BanksCommand, ASwizzleThatLeavesTheTileIsNamedAsSuch) {
  std::vector<std::string> const part{"(16,32):(128,1)", "--access", "ldmatrix.x4"};
  auto const r = run_command(banks(part));
  EXPECT_NE(r.out.find("swizzle  none inside the tile removes the conflicts"), std::string::npos)
      << r.out;
  EXPECT_NE(r.out.find("whole    Sw<3,3,4> o 0 o (16,32):(128,1): 8 wavefronts"), std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("none of"), std::string::npos) << r.out;
  auto words = banks(part);
  words.emplace_back("--json");
  auto const j = run_command(words).json();
  EXPECT_TRUE(j["swizzle"].is_null());
  EXPECT_EQ(j["beyond"]["wavefronts"], j["ideal"]);
  // The whole tile has that swizzle as a proposal, or another; nothing lies beyond it.
  auto const whole = run_command(banks({"(16,128):(128,1)", "--access", "ldmatrix.x4", "--json"}));
  EXPECT_FALSE(whole.json()["swizzle"].is_null());
  EXPECT_FALSE(whole.json().contains("beyond"));
}

TEST(BanksCommand, GivesPlacesAsData) {
  auto const r = run_command(
      banks({"(64,64):(64,1)", "--access", "st.128", "--tv", "(32,8):(1,64)", "--json"}));
  auto const record = r.json();
  EXPECT_EQ(record["wavefronts"], 32);
  EXPECT_EQ(record["ideal"], 4);
  EXPECT_EQ(record["ratio"], 8.0);
  auto const& worst = record["worst"];
  ASSERT_EQ(worst["threads"].size(), 32U);
  EXPECT_EQ(worst["threads"][9]["byte"], 9 * 128);
  EXPECT_EQ(worst["threads"][9]["bank"], 0);
  EXPECT_EQ(worst["threads"][9]["banks"], 4);
  EXPECT_EQ(worst["threads"][9]["wavefront"], 9);
  ASSERT_EQ(worst["collisions"].size(), 4U);
  EXPECT_EQ(worst["collisions"][1]["ways"], 8);
  EXPECT_EQ(worst["collisions"][1]["threads"][0], 8);
}

TEST(BanksCommand, ShowsEverything) {
  auto const r = run_command(banks({"(16,64):(64,1)", "--access", "ldmatrix.x4", "--all"}));
  EXPECT_EQ(r.status, 0);
  for (char const* part :
       {"instruction 3: 32 wavefronts", "thread 31  byte   2032  banks 28-31", "wavefront 31\n"}) {
    EXPECT_NE(r.out.find(part), std::string::npos) << part << "\n" << r.out;
  }
  auto const json =
      run_command(banks({"(16,64):(64,1)", "--access", "ldmatrix.x4", "--all", "--json"}));
  EXPECT_EQ(json.json()["all"].size(), 4U);
}

TEST(BanksCommand, SaysWhatIsModelled) {
  auto const r = run_command(banks({"Sw<3,3,3> o 0 o (64,16):(64,1)", "--access", "tma"}));
  EXPECT_EQ(r.status, 0);
  EXPECT_NE(r.out.find("modelled; no counter counts TMA"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("narrower than the span"), std::string::npos) << r.out;
  auto const wgmma = run_command(banks({"Sw<2,3,3> o 0 o (64,32):(32,1)", "--access", "wgmma"}));
  EXPECT_NE(wgmma.out.find("32 reads of a core matrix: 32 wavefronts, 32 would do"),
            std::string::npos)
      << wgmma.out;
}

TEST(BanksCommand, Refuses) {
  struct refused {
    std::vector<std::string> arguments;
    char const *code, *text;
  };
  std::string const tile = "(64,64):(64,1)", swizzled = "Sw<3,3,3> o 0 o (64,64):(64,1)";
  for (refused const& c : std::vector<refused>{
           {{tile, "--access", "ld.256"}, "TW0620", "ldmatrix.x4.trans"},
           {{swizzled, "--access", "wgmma", "--tv", "(8,8):(1,64)"}, "TW0621", "--tv"},
           // a map of a tile of (32, 16), counted through the columns of another one
           {{"(128,32):(32,1)", "--access", "st.128", "--tv", "((2,16),(8,2)):((256,1),(32,16))"},
            "TW0621",
            "--tv-tile"},
           {{tile, "--access", "ld.32", "--tv", "(32,2):(1,64)", "--thread-stride", "1"},
            "TW0621",
            "one of them"},
           {{"(32,32):(2,64)", "--access", "ld.128", "--bits", "32"}, "TW0160", "got 1 contiguous"},
           {{"(64,64):(66,1)", "--access", "ldmatrix.x4"},
            "TW0161",
            "got 132, need a multiple of 16"},
           {{"(60,64):(64,1)", "--access", "ldmatrix.x4"}, "TW0162", "got 60"},
           {{"(32,32):(32,1)", "--access", "ld.16", "--bits", "32"}, "TW0163", "got 32"},
           {{"(8,8):(8,1)", "--access", "ld.32", "--bits", "32", "--thread-stride", "4"},
            "TW0164",
            "got 64"},
           {{tile, "--access", "wgmma"}, "TW0165", "got 128, need 16"},
           {{"(8,8,2):(8,1,64)", "--access", "ld.32"}, "TW0166", "got 3, need 2"},
           {{"(1024,1024):(1024,1)", "--access", "ld.32"}, "TW0167", "at most 232448"},
           {{"(8,8", "--access", "ld.32"}, "TW0101", "position"},
           {{tile}, "TW0615", "--access"}}) {
    auto const r = run_command(banks(c.arguments));
    EXPECT_EQ(r.status, 2) << c.code;
    EXPECT_EQ(r.err.rfind(std::string("tilewright: ") + c.code, 0), 0U) << r.err;
    EXPECT_NE(r.err.find(c.text), std::string::npos) << r.err;
    EXPECT_EQ(r.out, "");
  }
  auto const record = run_command(banks({tile, "--access", "wgmma", "--json"}));
  EXPECT_EQ(record.json()["error"]["code"], "TW0165");
}

}  // namespace
