// SPDX-License-Identifier: Apache-2.0
// picture_steps_test.cpp  In the steps of an operation every part has the same cells in each panel.
#include <map>

#include "tests/tools/support.hpp"
#include "tilewright/atom/call.hpp"
#include "tools/picture/expression_parts.hpp"
#include "tools/picture/steps_picture.hpp"

namespace {

using namespace tw;

/// (part, cell) -> the text of the cell.
std::map<std::pair<i64, i64>, std::string> texts(panel const& p) {
  std::map<std::pair<i64, i64>, std::string> all;
  for (cell const& k : p.cells) {
    for (cell_owner const& o : k.owners) all[{o.thread, o.value}] = k.text;
  }
  return all;
}

TEST(expression_parts, are_split_at_outer_commas) {
  expression_parts const p = parts_of(" zipped_divide( composition((4,8):(8,1), 4:2) , (2,4)) ");
  EXPECT_EQ(p.op, "zipped_divide");
  EXPECT_EQ(p.args, (std::vector<std::string>{"(2,2):(16,1)", "(2,4)"}));
  EXPECT_EQ(parts_of("(4,8):(8,1)").op, "");
  EXPECT_EQ(parts_of("f(Sw<1,2,3> o 0 o (4):(1), 2)").args.size(), 2U);
}

TEST(steps, of_a_divide_show_the_same_tiles_before_and_after) {
  for (std::string const op : {"logical_divide", "zipped_divide", "tiled_divide", "flat_divide"}) {
    for (std::string const args :
         {"(4,8):(8,1), (2,4)", "(4,8):(8,1), (2:2,4)", "Sw<2,0,3> o 0 o (8,8):(8,1), (4,2)",
          "(6,4):(1,6), 4:3", "Sw<2,0,3> o 0 o (8,8):(8,1), 16:1", "((2,3),8):((8,16),1), (2,4)"}) {
      std::string const text = op + "(" + args + ")";
      picture const p = steps_picture(text);
      ASSERT_GE(p.panels.size(), 3U) << text;
      auto const before = texts(p.panels.front());
      EXPECT_EQ(before.size(), p.panels.front().cells.size()) << text;
      EXPECT_EQ(texts(p.panels.back()), before) << text;
      for (panel const& q : p.panels) {
        if (q.title.ends_with(": (T, complement)")) continue;  // indices, not offsets
        for (auto const& [part, offset] : texts(q)) EXPECT_EQ(before.at(part), offset) << q.title;
      }
      EXPECT_EQ(p.panels.back().caption, evaluate(text).res) << text;
    }
  }
}

TEST(steps, of_a_divide_name_complement_and_composition) {
  picture const p = steps_picture("zipped_divide((4,8):(8,1), (2,4))");
  ASSERT_EQ(p.captions.size(), 2U);
  EXPECT_EQ(p.captions[1], "L, mode 1 = 8:1: tile T = 4:1, complement(T, 8) = 2:4");
  ASSERT_EQ(p.panels.size(), 7U);
  EXPECT_EQ(p.panels[2].caption, to_string(logical_divide("4:8"_L, tiler(2))));
  EXPECT_EQ(p.panels[5].caption, "((2,2),(4,2)):((8,16),(1,4))");
  // Rows 0 and 1, columns 4 to 7 of L are tile 2.
  EXPECT_EQ(p.panels[0].at(1, 5).owners[0].thread, 2);
  EXPECT_EQ(p.panels[6].at(3, 2).text, "13");
}

TEST(steps, of_a_layout_product_show_each_copy_once) {
  for (std::string const text :
       {"logical_product((2,2):(1,2), (2,3):(3,1))", "blocked_product((2,2):(1,2), (2,3):(3,1))",
        "raked_product((2,2):(1,2), (2,3):(3,1))", "zipped_product((2,2):(4,1), (2:1,3:1))",
        "raked_product((2,2):(1,2), 3:1)"}) {
    picture const p = steps_picture(text);
    i64 copies = 0;
    for (cell const& k : p.panels.back().cells) {
      ASSERT_EQ(k.owners.size(), 1U) << text;
      copies = std::max(copies, k.owners[0].thread + 1);
    }
    EXPECT_EQ(copies * size(evaluate(parts_of(text).args[0]).function->shape),
              static_cast<i64>(p.panels.back().cells.size()))
        << text;
    // Every panel shows parts of the last one.
    auto const last = texts(p.panels.back());
    for (panel const& q : p.panels) {
      for (auto const& [part, offset] : texts(q)) EXPECT_EQ(last.at(part), offset) << q.title;
    }
    EXPECT_EQ(texts(p.panels.front()).size(), p.panels.front().cells.size());
    EXPECT_EQ(p.panels.back().caption, evaluate(text).res);
  }
}

TEST(steps, of_a_composition_go_leaf_by_leaf) {
  picture const p = steps_picture("composition((6,2):(8,2), (4,3):(3,1))");
  ASSERT_EQ(p.panels.size(), 4U);
  EXPECT_EQ(p.panels[0].caption, "(6,2):(8,2) o 4:3 = (2,2):(24,2)");
  EXPECT_EQ(p.panels[1].caption, "(6,2):(8,2) o 3:1 = 3:8");
  EXPECT_EQ(p.panels[1].at(3, 0).colour, pale);
  EXPECT_EQ(texts(p.panels[2]), texts(p.panels[3]));
  EXPECT_EQ(steps_picture("composition((4,8):(8,1), (2,4:2))").panels.size(), 3U);
}

TEST(steps, of_a_complement_reach_every_offset) {
  picture const p = steps_picture("complement((2,2):(1,6), 24)");
  for (cell const& k : p.panels[1].cells) EXPECT_EQ(k.owners.size(), 1U);
  EXPECT_EQ(p.panels[1].cells.size(), 24U);
  EXPECT_EQ(texts(p.panels[1]), texts(p.panels[2]));
}

TEST(steps, of_a_swizzle_are_before_and_after) {
  EXPECT_EQ(steps_picture("Sw<1,0,1> o 0 o (2,4):(4,1)").panels.size(), 2U);
}

}  // namespace
