// SPDX-License-Identifier: Apache-2.0
// access_test.cpp  Accesses to tiles: counts measured on a GPU, and proposals.
#include "tilewright/atom/access.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/atom/bank_cases.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr layout plain_tile = "(64,64):(64,1)"_L;
constexpr layout sw128_tile = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;

// K-major rows of 128 bytes: 8 rows of a matrix in the same banks, unless they are swizzled.
static_assert(count_banks(ldmatrix_access(4), plain_tile, 16).wavefronts == 8 * 64);
static_assert(count_banks(ldmatrix_access(4), sw128_tile, 16).wavefronts == 64);
static_assert(count_banks(stmatrix_access(4), plain_tile, 16).wavefronts == 8 * 64);
static_assert(count_banks(stmatrix_access(4), sw128_tile, 16).wavefronts == 64);
static_assert(count_banks(wgmma_access, sw128_tile, 16).wavefronts == 64);

/// The example of the header.
TEST(Access, Example) {
  layout const map = natural_map(ldmatrix_access(4), plain_tile, 16);
  EXPECT_EQ(wavefronts(access_of(ldmatrix_access(4), plain_tile, 16, map, 0)), 32);
  EXPECT_EQ(map, "((8,2,2),8,(4,4)):((1,8,512),64,(16,1024))"_L);
  // Threads go down the contiguous mode, whichever it is.
  EXPECT_EQ(mode(natural_map(ld_access(32), "(32,32):(1,32)"_L, 32), 0)(31), 31);
  EXPECT_EQ(mode(natural_map(ld_access(32), "(32,32):(32,1)"_L, 32), 0)(31), 31 * 32);
}

/// Each element of the tile exactly once.
TEST(Access, NaturalMapsCoverTheTile) {
  for (std::string const& name : access_names()) {
    access_kind const k = *access_named(name);
    EXPECT_EQ(name_of(k), name);
    for (char const* text : {"(64,64):(64,1)", "(64,64):(1,64)", "(16,48):(48,1)", "(96,80):(80,1)",
                             "Sw<3,3,3> o 0 o (64,64):(64,1)", "((8,4),64):((64,512),1)",
                             "(64,(8,8)):(8,(1,512))", "(128,8):(1,128)", "4096:1"}) {
      layout const tile = parse_layout(text, static_cast<int>(std::string(text).size()));
      int const bits = k.bits < 16 ? k.bits : 16;
      layout map;
      try {
        map = natural_map(k, tile, bits);
      } catch (rejected const& e) {
        EXPECT_TRUE(e.why().code == "TW0162" || e.why().code == "TW0165") << e.what();
        continue;
      }
      std::set<i64> seen;
      for (i64 i = 0; i < size(map); ++i) seen.insert(map(i));
      EXPECT_EQ(static_cast<i64>(seen.size()), size(tile)) << name << " " << text;
      EXPECT_EQ(size(map), size(tile)) << name << " " << text;
      EXPECT_EQ(*seen.rbegin(), size(tile) - 1) << name << " " << text;
    }
  }
}

/// The swizzle of a tile does not change which words are read, so the ideal does not change.
TEST(Access, ASwizzleDoesNotChangeTheIdeal) {
  for (bank_case const& c : bank_cases()) {
    layout const without = linear_part(c.layout());
    EXPECT_EQ(c.model().ideal, count_banks(c.kind(), without, c.elem_bits, c.map()).ideal)
        << c.tile;
    EXPECT_GE(c.model().wavefronts, c.model().ideal) << c.tile;
  }
}

/// Every canonical layout of wgmma is read without conflicts; so is a box of TMA as wide as its
/// span.
TEST(Access, HardwareReadsHaveNoConflicts) {
  for (char const* text :
       {"(64,(8,8)):(8,(1,512))", "Sw<1,3,3> o 0 o (64,16):(16,1)",
        "Sw<2,3,3> o 0 o (64,32):(32,1)", "Sw<3,3,3> o 0 o ((8,8),(64,2)):((64,512),(1,4096))",
        "Sw<3,3,3> o 0 o (64,64):(1,64)"}) {
    layout const tile = parse_layout(text, static_cast<int>(std::string(text).size()));
    bank_totals const sum = count_banks(wgmma_access, tile, 16);
    EXPECT_EQ(sum.wavefronts, size(tile) * 2 / 128) << text;
    EXPECT_EQ(sum.ideal, sum.wavefronts) << text;
  }
  EXPECT_EQ(count_banks(tma_access, sw128_tile, 16).wavefronts, 64);
  EXPECT_EQ(count_banks(tma_access, plain_tile, 16).wavefronts, 64);
  EXPECT_EQ(count_banks(tma_access, "Sw<3,3,3> o 0 o (64,16):(64,1)"_L, 16).wavefronts, 32);
}

nlohmann::json measured_on_a_gpu() {
  std::ifstream file(TW_SOURCE_DIR "/bench/results/2026-11-21-h200-banks.json");
  return nlohmann::json::parse(file);
}

/// The model cannot drift from what Nsight Compute counted.
TEST(Access, CountsAreThoseOfTheGpu) {
  auto const card = measured_on_a_gpu();
  std::vector<bank_case> const cases = bank_cases();
  ASSERT_EQ(card["layouts"].size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    auto const& row = card["layouts"][i];
    ASSERT_EQ(row["access"], cases[i].access);
    ASSERT_EQ(row["layout"], cases[i].tile);
    ASSERT_EQ(row["threads"], cases[i].threads);
    EXPECT_EQ(row["measured"], cases[i].model().wavefronts) << row;
    EXPECT_EQ(row["ideal"], cases[i].model().ideal) << row;
  }
  ASSERT_GE(card["operands"].size(), 9U);
  for (auto const& row : card["operands"]) {
    i64 sum = 0;
    for (char const* operand : {"a", "b"}) {
      std::string const text = row[operand];
      if (text == "registers") continue;
      layout const l = parse_layout(text.data(), static_cast<int>(text.size()));
      sum += count_banks(wgmma_access, l, 16).wavefronts;
    }
    EXPECT_EQ(row["measured"], sum) << row;
  }
  for (auto const& row : card["descriptors"]) EXPECT_EQ(row["measured"], (64 + 64) / 8 * 2) << row;
  for (auto const& row : card["boxes"]) {  // the words; the wavefronts of TMA are not counted
    std::string const text = row["layout"];
    layout const l = parse_layout(text.data(), static_cast<int>(text.size()));
    EXPECT_EQ(row["measured"], size(l) / 2) << row;
  }
}

TEST(Access, RandomPatternsCountAsOnTheGpu) {
  auto const card = measured_on_a_gpu();
  ASSERT_EQ(card["patterns"].size(), pattern_accesses().size());
  for (std::string const& name : pattern_accesses()) {
    auto const& measured = card["patterns"][name]["measured"];
    ASSERT_EQ(measured.size(), static_cast<std::size_t>(patterns_of_each));
    for (int i = 0; i < patterns_of_each; ++i) {
      EXPECT_EQ(measured[static_cast<std::size_t>(i)],
                wavefronts(bank_pattern(*access_named(name), i)))
          << name << " pattern " << i;
    }
  }
}

bank_proposal proposal(access_kind k, layout const& tile, int bits, bool hardware_only = false) {
  return propose(k, tile, bits, natural_map(k, tile, bits), hardware_only);
}

TEST(Access, ProposalsRemoveTheConflicts) {
  bank_proposal const p = proposal(ldmatrix_access(4), plain_tile, 16);
  ASSERT_TRUE(p.swizzle && p.padding);
  EXPECT_EQ(p.swizzle->tile, sw128_tile);
  EXPECT_EQ(hardware_name(p.swizzle->tile.sw, 16), "the 128-byte swizzle of TMA and wgmma");
  EXPECT_EQ(p.padding->tile, "(64,64):(72,1)"_L);
  EXPECT_EQ(p.padding->extra_bytes, 63 * 8 * 2);
  EXPECT_EQ(proposal(ldmatrix_access(4), sw128_tile, 16).swizzle->tile, sw128_tile);
  // 64-byte rows need two bits, 32-byte rows one: the fewest that reach the ideal.
  EXPECT_EQ(proposal(stmatrix_access(4), "(64,32):(32,1)"_L, 16).swizzle->tile.sw,
            make_swizzle(2, 3, 3));
  EXPECT_EQ(proposal(stmatrix_access(4), "(64,16):(16,1)"_L, 16).swizzle->tile.sw,
            make_swizzle(1, 3, 3));
  EXPECT_FALSE(proposal(ld_access(128), plain_tile, 16).swizzle) << "no conflicts, no proposal";
}

/// Each proposal for a compared case has the wavefronts that it promises.
TEST(Access, ProposalsAreTrue) {
  int proposed = 0;
  for (bank_case const& c : bank_cases()) {
    bank_proposal const p = propose(c.kind(), c.layout(), c.elem_bits, c.map(), false);
    for (auto const& l : {p.swizzle, p.padding}) {
      if (!l) continue;
      ++proposed;
      EXPECT_EQ(count_banks(c.kind(), l->tile, c.elem_bits, c.map()).wavefronts, p.ideal) << c.tile;
      EXPECT_LE(cosize(l->tile) * c.elem_bits / 8,
                cosize(linear_part(c.layout())) * c.elem_bits / 8 + l->extra_bytes);
    }
    if (p.swizzle) {
      EXPECT_EQ(p.swizzle->extra_bytes, 0);
    }
    EXPECT_EQ(p.plain > p.ideal, p.swizzle.has_value()) << c.tile;
  }
  EXPECT_GE(proposed, 40);
}

TEST(Access, SaysWhyNoSwizzleHelps) {
  layout const tile = "(32,32):(32,1)"_L;
  layout const column = map_of_threads(ld_access(32), "(32,1):(1,0)"_L, 32);
  bank_proposal const any = propose(ld_access(32), tile, 32, column, false);
  EXPECT_EQ(any.swizzle->tile.sw, make_swizzle(5, 0, 5));
  bank_proposal const tma = propose(ld_access(32), tile, 32, column, true);
  EXPECT_FALSE(tma.swizzle || tma.padding);
  ASSERT_TRUE(tma.best);
  EXPECT_EQ(tma.best->tile.sw, make_swizzle(3, 2, 3));
  EXPECT_EQ(tma.best->wavefronts, 4);
  EXPECT_NE(tma.why.find("bits 7, 8, 9, 10, 11"), std::string::npos) << tma.why;
  // The result of an mma, 32 bits: rows 4 threads apart must go where the columns leave room.
  layout const result = map_of_threads(st_access(32), "((4,8),(2,2)):((512,1),(256,8))"_L, 32);
  bank_proposal const p = propose(st_access(32), "(256,128):(128,1)"_L, 32, result, false);
  EXPECT_FALSE(p.swizzle || p.padding);
  EXPECT_EQ(p.plain, 32);
  EXPECT_NE(p.why.find("bits 9, 10, 11"), std::string::npos) << p.why;
}

std::string code_of(std::function<void()> const& f) {
  try {
    f();
  } catch (rejected const& e) {
    return e.why().code;
  }
  return "nothing";
}

TEST(Access, Refusals) {
  auto const natural = [](access_kind k, char const* text, int bits) {
    return code_of([&] {
      count_banks(k, parse_layout(text, static_cast<int>(std::string(text).size())), bits);
    });
  };
  EXPECT_EQ(natural(ld_access(128), "(32,32):(2,64)", 32), "TW0160");
  EXPECT_EQ(natural(ldmatrix_access(4), "Sw<1,0,3> o 0 o (64,64):(64,1)", 16), "TW0160");
  EXPECT_EQ(natural(ldmatrix_access(4), "(64,64):(66,1)", 16), "TW0161");
  EXPECT_EQ(natural(ldmatrix_access(4), "(60,64):(64,1)", 16), "TW0162");
  EXPECT_EQ(natural(ld_access(16), "(32,32):(32,1)", 32), "TW0163");
  EXPECT_EQ(natural(ld_access(32), "(32,32):(32,1)", 12), "TW0163");
  EXPECT_EQ(natural({smem_op::ldmatrix, 128, 4, true}, "(64,64):(64,1)", 8), "TW0163");
  EXPECT_EQ(natural(wgmma_access, "Sw<3,4,3> o 0 o (128,64):(1,128)", 8), "TW0163");
  EXPECT_EQ(natural(wgmma_access, "(64,64):(64,1)", 16), "TW0165");
  EXPECT_EQ(natural(wgmma_access, "Sw<3,3,4> o 0 o (64,64):(64,1)", 16), "TW0237");
  EXPECT_EQ(natural(tma_access, "Sw<3,2,3> o 0 o (8,8):(8,1)", 16), "TW0237");
  EXPECT_EQ(natural(tma_access, "Sw<2,3,3> o 0 o (64,64):(64,1)", 16), "TW0165");
  EXPECT_EQ(natural(tma_access, "(64,64):(72,1)", 16), "TW0165");
  EXPECT_EQ(natural(ld_access(32), "(8,8,2):(8,1,64)", 32), "TW0166");
  EXPECT_EQ(natural(ld_access(32), "(1024,1024):(1024,1)", 32), "TW0167");
  EXPECT_EQ(code_of([] { map_of_threads(ld_access(32), "32:1"_L, 32); }), "TW0166");
  EXPECT_EQ(code_of([] {
              layout const map = map_of_threads(ld_access(32), "(32,1):(4,0)"_L, 32);
              count_banks(ld_access(32), "(8,8):(8,1)"_L, 32, map);
            }),
            "TW0164");
}

}  // namespace
