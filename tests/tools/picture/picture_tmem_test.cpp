// SPDX-License-Identifier: Apache-2.0
// picture_tmem_test.cpp  Pictures of tensor memory: each register and each element has one cell,
//                        in the lanes that its warp reaches.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tilewright/base/check.hpp"
#include "tools/picture/tmem_picture.hpp"

namespace tw {
namespace {

TEST(TmemPicture, EachRegisterHasACellInTheLanesOfItsWarp) {
  for (char const* name : {"tmem.ld.32x32b.x8", "tmem.ld.16x64b.x4", "tmem.ld.16x128b.x2",
                           "tmem.ld.16x256b.x2", "tmem.ld.16x32bx2.x4"}) {
    panel const p = tmem_picture(parse_tmem(name)).panels.at(0);
    ASSERT_EQ(p.rows, 128);
    std::set<std::pair<i64, i64>> owners;
    int used = 0;
    for (i64 lane = 0; lane < p.rows; ++lane)
      for (i64 c = 0; c < p.columns; ++c)
        for (cell_owner const& o : p.at(lane, c).owners) {
          ++used;
          EXPECT_TRUE(owners.insert({o.thread, o.value}).second) << name;
          EXPECT_EQ(o.thread / 32, lane / 32) << name;
          EXPECT_EQ(p.at(lane, c).colour, lane / 32) << name;
        }
    bool const all = std::string(name).find("32x32b.") != std::string::npos;
    EXPECT_EQ(used, p.columns * (all ? 128 : 64)) << name;
  }
  EXPECT_EQ(tmem_picture(parse_tmem("tmem.ld.16x64b.x4")).panels[0].at(8, 1).text, "T3\nR0");
}

TEST(TmemPicture, AnAccumulatorsElementsHaveACellEach) {
  struct expected {
    char const* name;
    int columns, elements;
    char const *at_lane_16, *at_lane_64;
  };
  for (expected const& e : {expected{"tmem.d.1cta.m128n16", 16, 128 * 16, "16,3", "64,3"},
                            {"tmem.d.1cta.m64n16", 16, 64 * 16, "", "32,3"},
                            {"tmem.d.2cta.m256n32", 32, 128 * 32, "16,3", "64,3"},
                            {"tmem.d.2cta.m128n32", 16, 64 * 32, "16,3", "0,19"}}) {
    panel const p = tmem_picture(parse_tmem(e.name)).panels.at(0);
    EXPECT_EQ(p.columns, e.columns) << e.name;
    std::set<std::string> elements;
    for (cell const& k : p.cells)
      if (!k.text.empty()) {
        EXPECT_TRUE(elements.insert(k.text).second) << e.name << " " << k.text;
      }
    EXPECT_EQ(static_cast<int>(elements.size()), e.elements) << e.name;
    EXPECT_EQ(p.at(16, 3).text, e.at_lane_16) << e.name;
    EXPECT_EQ(p.at(64, 3).text, e.at_lane_64) << e.name;
  }
}

TEST(TmemPicture, AnElementOfAHasACellInEachCopy) {
  struct expected {
    char const* name;
    int columns, elements, copies;
    char const *at_lane_16, *at_lane_64;
  };
  for (expected const& e : {expected{"tmem.a.1cta.m128.f16", 16, 128 * 16, 1, "16,3", "64,3"},
                            {"tmem.a.1cta.m64.tf32", 8, 64 * 8, 1, "", "32,3"},
                            {"tmem.a.2cta.m128.f8f6f4", 32, 64 * 32, 2, "16,3", "0,3"},
                            {"tmem.a.2cta.m256.mxf4", 64, 128 * 64, 1, "16,3", "64,3"}}) {
    panel const p = tmem_picture(parse_tmem(e.name)).panels.at(0);
    EXPECT_EQ(p.columns, e.columns) << e.name;
    std::map<std::string, int> elements;
    for (cell const& k : p.cells)
      if (!k.text.empty()) ++elements[k.text];
    EXPECT_EQ(static_cast<int>(elements.size()), e.elements) << e.name;
    for (auto const& [text, count] : elements) EXPECT_EQ(count, e.copies) << e.name << " " << text;
    EXPECT_EQ(p.at(16, 3).text, e.at_lane_16) << e.name;
    EXPECT_EQ(p.at(64, 3).text, e.at_lane_64) << e.name;
  }
}

TEST(TmemPicture, ScaleFactorsAreInEachGroupOfLanes) {
  // Row 37 is in lane 5 of each group, column 1; its byte b is for the elements from b * block on.
  struct expected {
    char const* name;
    int block;
    char const* ids[4];
  };
  for (expected const& e :
       {expected{"tmem.sfa.1cta.m128.mxf8f6f4", 32, {"id 0", "id 1", "id 2", "id 3"}},
        {"tmem.sfa.2cta.m256.mxf4", 32, {"id 0", "id 0", "id 2", "id 2"}},
        {"tmem.sfb.1cta.m128n64.mxf4nvf4", 16, {"id 0", "id 0", "id 0", "id 0"}},
        {"tmem.sfb.2cta.m256n64.mxf4nvf4.block32", 32, {"id 0", "id 0", "id 2", "id 2"}}}) {
    picture const all = tmem_picture(parse_tmem(e.name));
    ASSERT_EQ(all.legend.size(), 4U);
    for (int b = 0; b < 4; ++b) {
      for (int group = 0; group < 4; ++group) {
        cell const& k = all.panels[0].at(5 + 32 * group, 4 + b);
        EXPECT_EQ(k.text, "37," + std::to_string(b * e.block)) << e.name;
        EXPECT_EQ(k.colour, b) << e.name;
        EXPECT_NE(k.hint.find(e.ids[b]), std::string::npos) << e.name << ": " << k.hint;
      }
      EXPECT_NE(all.legend[static_cast<std::size_t>(b)].text.find(e.ids[b]), std::string::npos);
    }
  }
  panel const p = tmem_picture(parse_tmem("tmem.sfb.2cta.m128n128.mxf4nvf4")).panels.at(0);
  EXPECT_EQ(p.columns, 8);
  EXPECT_EQ(p.at(5, 4).text, "37,0");
  EXPECT_EQ(p.at(32 + 5, 4).text, "37,0");
  EXPECT_EQ(p.at(64 + 5, 4).text, "101,0");
  panel const narrow = tmem_picture(parse_tmem("tmem.sfb.1cta.m128n40.mxf4")).panels.at(0);
  EXPECT_EQ(narrow.at(7, 4).text, "39,0");
  EXPECT_EQ(narrow.at(8, 4).text, "") << "padding";
  EXPECT_EQ(narrow.at(8, 4).colour, pale);
}

TEST(TmemPicture, RowsOfACopyAreInTheLanesOfItsShape) {
  auto const at = [](char const* name, int lane, int column) {
    return tmem_picture(parse_tmem(name)).panels.at(0).at(lane, column).text;
  };
  EXPECT_EQ(at("tmem.cp.128x256b", 77, 5), "77,20");
  EXPECT_EQ(at("tmem.cp.64x128b.warpx2::02_13", 77, 3), "13,12");
  EXPECT_EQ(at("tmem.cp.64x128b.warpx2::01_23", 77, 3), "45,12");
  EXPECT_EQ(at("tmem.cp.64x128b.warpx2::01_23", 45, 3), "13,12");
  EXPECT_EQ(at("tmem.cp.32x128b.warpx4.b8x16.b4x16_p64", 77, 3), "13,12");
}

TEST(TmemPicture, QuartersHaveTheCellsOfTheWhole) {
  for (auto const& [name, panels] : {std::pair{"tmem.sfa.1cta.m128.mxf4", std::size_t{4}},
                                     {"tmem.d.1cta.m64n8", std::size_t{4}},
                                     {"tmem.d.1cta.m128n32", std::size_t{1}}}) {
    picture const whole = tmem_picture(parse_tmem(name)), parts = in_quarters(whole);
    ASSERT_EQ(parts.panels.size(), panels) << name;
    i64 const rows = 128 / static_cast<i64>(panels);
    for (i64 lane = 0; lane < 128; ++lane) {
      panel const& p = parts.panels[static_cast<std::size_t>(lane / rows)];
      EXPECT_EQ(p.row_label(lane % rows), std::to_string(lane));
      for (i64 c = 0; c < p.columns; ++c)
        EXPECT_EQ(p.at(lane % rows, c), whole.panels[0].at(lane, c)) << name;
    }
  }
}

TEST(TmemPicture, RefusesNamesThatNoInstructionHas) {
  for (char const* name : {"tmem.",
                           "tmem.ld.8x8.x1",
                           "tmem.ld.32x32b.x3",
                           "tmem.ld.16x256b.x64",
                           "tmem.d.1cta.m96n16",
                           "tmem.d.2cta.m128n24",
                           "tmem.d.1cta.m64n16x",
                           "tmem.d.ws.m64n96",
                           "tmem.d.3cta.m64n16",
                           "tmem.a.1cta.m128",
                           "tmem.a.1cta.m64.mxf4",
                           "tmem.a.1cta.m128.f32",
                           "tmem.sf.1cta.m128.mxf4",
                           "tmem.sfa.1cta.m64.mxf4",
                           "tmem.sfa.1cta.m128.f16",
                           "tmem.sfa.1cta.m128.mxf4.block16",
                           "tmem.sfb.1cta.m128n12.mxf4",
                           "tmem.sfb.2cta.m128n96.mxf4",
                           "tmem.cp.4x256b",
                           "tmem.cp.32x128b",
                           "tmem.cp.128x128b.b8x16"}) {
    try {
      tmem_picture(parse_tmem(name));
      ADD_FAILURE() << name;
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0626") << name;
    }
  }
}

}  // namespace
}  // namespace tw
