// SPDX-License-Identifier: Apache-2.0
// picture_tmem_test.cpp  Pictures of tensor memory: each register and each element has one cell,
//                        in the lanes that its warp reaches.
#include <gtest/gtest.h>

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

TEST(TmemPicture, RefusesNamesThatNoInstructionHas) {
  for (char const* name : {"tmem.", "tmem.ld.8x8.x1", "tmem.ld.32x32b.x3", "tmem.ld.16x256b.x64",
                           "tmem.d.1cta.m96n16", "tmem.d.2cta.m128n24", "tmem.d.1cta.m64n16x"}) {
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
