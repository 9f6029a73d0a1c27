// SPDX-License-Identifier: Apache-2.0
// picture_test.cpp  Cells, colours and owners of pictures are those of the layout; what is refused.
#include "tools/picture/picture.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/tools/support.hpp"
#include "tilewright/atom/call.hpp"
#include "tools/picture/escape.hpp"
#include "tools/picture/frame.hpp"
#include "tools/picture/layout_picture.hpp"
#include "tools/picture/palette.hpp"
#include "tools/picture/request.hpp"
#include "tools/picture/tv_picture.hpp"
#include "tools/picture/write_svg.hpp"
#include "tools/report/json_output.hpp"

namespace {

using namespace tw;
using namespace tw_test;

picture drawn(std::string const& expression, std::string const& slice = {}) {
  picture_request r;
  r.expression = expression;
  r.slice = slice;
  return picture_of(r);
}

std::string code_of(picture_request const& r) {
  return rejection_of([&] { (void)picture_of(r); }).code;
}

TEST(picture_of_a_layout, has_a_cell_for_each_coordinate) {
  layout const l = "((2,3),(4,2)):((1,8),(48,2))"_L;
  picture const p = drawn(to_string(l));
  ASSERT_EQ(p.panels.size(), 1U);
  panel const& q = p.panels[0];
  EXPECT_EQ(q.rows, 6);
  EXPECT_EQ(q.columns, 8);
  EXPECT_EQ(q.row_blocks, std::vector<i64>{2});
  EXPECT_EQ(q.column_blocks, std::vector<i64>{4});
  for (i64 i = 0; i < 6; ++i) {
    for (i64 j = 0; j < 8; ++j) {
      EXPECT_EQ(q.at(i, j).text, std::to_string(l(i, j)));
      EXPECT_EQ(q.at(i, j).colour, l(i, j) % 8);
      EXPECT_EQ(q.at(i, j).owners[0].thread, l(i, j));
    }
  }
}

TEST(picture_of_a_layout, of_any_rank_is_sliced) {
  layout const l = "(4,6,3,2):(1,4,24,72)"_L;
  picture const all = drawn(to_string(l));
  ASSERT_EQ(all.panels.size(), 6U);
  EXPECT_EQ(cell_count(all), size(l));
  EXPECT_EQ(all.panels[4].title, "(_,_,1,1)");
  EXPECT_EQ(all.panels[4].place_row, 1);
  EXPECT_EQ(all.panels[4].place_column, 1);
  EXPECT_EQ(all.panels[4].at(3, 5).text, std::to_string(l(3, 5, 1, 1)));

  picture const part = drawn(to_string(l), "(_,2,_,1)");
  ASSERT_EQ(part.panels.size(), 1U);
  EXPECT_EQ(part.panels[0].columns, 3);
  EXPECT_EQ(part.panels[0].at(1, 2).text, std::to_string(l(1, 2, 2, 1)));

  layout const nested = "((4,2),(2,3)):((1,16),(4,32))"_L;
  picture const inner = drawn(to_string(nested), "((_,1),(1,_))");
  EXPECT_EQ(inner.panels[0].at(3, 2).text,
            std::to_string(nested(make_tree(make_tree(3, 1), make_tree(1, 2)))));
  EXPECT_EQ(drawn("(4,6):(6,1)", "(3,5)").panels[0].cells[0].text, "23");
}

TEST(picture_of_a_layout, of_one_mode_is_a_row_that_breaks) {
  EXPECT_EQ(drawn("64:2").panels[0].rows, 1);
  panel const p = drawn("200:3").panels[0];
  EXPECT_EQ(p.rows, 7);
  EXPECT_EQ(p.columns, 32);
  EXPECT_EQ(p.row_label(6), "192");
  EXPECT_EQ(p.cells[199].text, "597");
  EXPECT_EQ(p.cells[200].colour, blank);
  EXPECT_EQ(drawn("(48,4):(1,64)", "(_,_)").panels[0].columns, 4);
  EXPECT_EQ(drawn("((16,12),2):((1,32),16)", "(_,1)").panels[0].columns, 16);
}

TEST(picture_of_a_layout, shows_coordinates_where_offsets_are_some) {
  picture const p = drawn("(2,3):(1@1,1@0)");
  EXPECT_EQ(p.panels[0].at(1, 2).text, "(2,1)");
  EXPECT_TRUE(p.panels[0].at(1, 2).owners.empty());
}

TEST(picture_of_a_swizzle, has_the_same_cells_before_and_after) {
  layout const l = "Sw<2,1,3> o 0 o (8,16):(16,1)"_L;
  picture const p = swizzle_picture(l);
  ASSERT_EQ(p.panels.size(), 2U);
  for (i64 i = 0; i < 8; ++i) {
    for (i64 j = 0; j < 16; ++j) {
      i64 const before = std::stoll(p.panels[0].at(i, j).text);
      EXPECT_EQ(p.panels[1].at(i, j).text, std::to_string(l.sw(before)));
      EXPECT_EQ(p.panels[1].at(i, j).colour, l.sw(before) / 2 % 8);
    }
  }
  EXPECT_NE(p.captions[0].find("bits 5 to 0 of the offset: YY.ZZb"), std::string::npos);
}

/// The accumulator of mma.sync m16n8: (thread, value) -> place in a column-major 16 x 8 tile.
constexpr layout c_of_m16n8 = "((4,8),(2,2)):((32,1),(16,8))"_L;

TEST(picture_of_threads, names_exactly_the_owners) {
  picture const p = tv_picture(c_of_m16n8, "(16,8)"_L, "C");
  ASSERT_EQ(p.panels.size(), 2U);
  panel const& tile = p.panels[0];
  panel const& threads = p.panels[1];
  for (i64 t = 0; t < 32; ++t) {
    for (i64 v = 0; v < 4; ++v) {
      i64 const at = c_of_m16n8(t, v);
      cell const& k = tile.at(at % 16, at / 16);
      EXPECT_EQ(k.owners, (std::vector<cell_owner>{{t, v}}));
      EXPECT_EQ(k.text, "T" + std::to_string(t) + "\nV" + std::to_string(v));
      EXPECT_EQ(k.colour, t % 8);
      EXPECT_EQ(threads.at(t, v).text,
                "(" + std::to_string(at % 16) + "," + std::to_string(at / 16) + ")");
    }
  }
}

TEST(picture_of_threads, shows_shared_and_empty_cells_and_offsets) {
  picture const p = tv_picture("(4,2):(0,2)"_L, "(2,3):(3,1)"_L, "shared");
  EXPECT_EQ(p.panels[0].at(0, 0).owners.size(), 4U);
  EXPECT_EQ(p.panels[0].at(0, 0).text, "T0\nV0\n+3");
  EXPECT_EQ(p.panels[0].at(1, 0).colour, blank);
  EXPECT_EQ(p.panels[0].at(0, 1).hint.rfind("(0,1) at offset 1: T0 V1,", 0), 0U);
  panel const turned = tile_panel(c_of_m16n8, "(16,8)"_L, {"", "n", "m", true});
  EXPECT_EQ(turned.rows, 8);
  EXPECT_EQ(turned.at(2, 1).text, "T5\nV0");
}

TEST(picture, refuses_what_has_no_cells_or_too_many) {
  EXPECT_EQ(code_of({.expression = "()"}), "TW0170");
  EXPECT_EQ(code_of({.expression = "size((4,8))"}), "TW0170");
  EXPECT_EQ(code_of({.expression = "(1000,1000)"}), "TW0122");
  EXPECT_EQ(code_of({.expression = "(1000000000,1000000000)"}), "TW0122");
  EXPECT_EQ(code_of({.expression = "(4,8)", .slice = "(_,_,_)"}), "TW0171");
  EXPECT_EQ(code_of({.expression = "(4,8)", .slice = "(_,8)"}), "TW0171");
  EXPECT_EQ(code_of({.expression = "(4,8)", .slice = "(-1,_)"}), "TW0171");
  EXPECT_EQ(code_of({.expression = "(4,8,2)", .tv = "(8,8)"}), "TW0172");
  EXPECT_EQ(code_of({.expression = "size((4,8))", .tv = "(8,8)"}), "TW0172");
  EXPECT_EQ(code_of({.expression = "(4,8)", .tv = "(4,4)"}), "TW0173");
  EXPECT_EQ(rejection_of([] { (void)swizzle_picture("(4,8)"_L); }).code, "TW0174");
  EXPECT_EQ(code_of({.expression = "coalesce((4,8))", .steps = true}), "TW0175");
  EXPECT_EQ(code_of({.expression = "(4,8)", .slice = "(_,1)", .steps = true}), "TW0625");
  // A layout is also too large when its slice is small enough.
  EXPECT_EQ(drawn("(1000,1000,8)", "(3,_,_)").panels[0].rows, 1000);
}

TEST(escape, leaves_nothing_that_means_something_else) {
  EXPECT_EQ(xml_text("a<b> & \"c\"\x01"), "a&lt;b&gt; &amp; &quot;c&quot; ");
  EXPECT_EQ(tex_text("50% of #1_{a}^2 & \\x → ~"),
            "50\\%~of~\\#1\\_\\{a\\}\\textasciicircum{}2~\\&~\\textbackslash{}x~$\\to$~"
            "\\textasciitilde{}");
  EXPECT_EQ(short_number(3.0), "3");
  EXPECT_EQ(short_number(-0.001), "0");
  EXPECT_EQ(short_number(12.50), "12.5");
}

TEST(escape, numbers_are_rounded_as_fmt_rounds_them) {
  auto const by_fmt = [](double v) {
    std::string s = fmt::format("{:.2f}", v);
    s.erase(s.find_last_not_of('0') + 1);
    if (s.back() == '.') s.pop_back();
    return s == "-0" ? "0" : s;
  };
  std::mt19937_64 bits(20261129);
  for (int i = 0; i < 200000; ++i) {
    auto const n = static_cast<double>(static_cast<i64>(bits()) >> (bits() % 63));
    for (double const v : {n / 8, n / 1000, n / 3, n * 1.1, std::nextafter(n / 200, 0.0), n / 200})
      ASSERT_EQ(short_number(v), by_fmt(v)) << v;
  }
}

TEST(escape, strings_of_pages_are_those_of_json) {
  for (std::string const text : {"", "T0 V1", "(1,2) → 17", "a\"b\\c", "</script>", "\n\t\x01",
                                 "é×·→", "→→ x", "\xe2\x86", "\xff"}) {
    std::string out = "before ";
    append_json_string(out, text);
    EXPECT_EQ(out.find('<'), std::string::npos);
    EXPECT_EQ(nlohmann::json::parse(out.substr(7)), nlohmann::json::parse(json_text(text)));
  }
}

/// Relative luminance of "#rrggbb" (WCAG 2.1).
double luminance(std::string_view hex) {
  double const weights[] = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double const v = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    sum += weights[i] * (v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(std::string_view a, std::string_view b) {
  double const x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(palette, can_be_read_on_both_papers) {
  for (paper const& p : {light_paper, dark_paper}) {
    for (int k = warning; k < colours; ++k) {
      EXPECT_GE(contrast(p.text, fill_of(p, k)), 4.5) << letter_of(k);
    }
    EXPECT_GE(contrast(p.quiet_text, p.ground), 4.5);
    EXPECT_GE(contrast(p.mark, p.ground), 4.5);
    EXPECT_GE(contrast(p.text, p.pale_fill), 4.5);
  }
}

TEST(frame, shrinks_cells_and_thins_labels) {
  picture const small = drawn("(4,8):(8,1)");
  EXPECT_EQ(frame_of(small).panels[0].font, 11);
  EXPECT_EQ(frame_of(small).panels[0].column_step, 1);
  picture const large = drawn("((8,16),(64,4)):((64,512),(1,8192))");
  picture_frame const f = frame_of(large);
  EXPECT_EQ(f.panels[0].font, 0);
  EXPECT_LE(f.width, 1700);
  EXPECT_GT(f.panels[0].column_step, 1);
  ASSERT_EQ(f.panels[0].column_lines.size(), 1U);
  EXPECT_EQ(f.panels[0].column_lines[0].every, 64);
  EXPECT_EQ(f.panels[0].block_columns, 64);
}

TEST(frame, keeps_panels_and_titles_apart) {
  picture p = drawn("(4,6,3,2):(1,4,24,72)");
  p.panels[0].title = std::string(120, 'x');
  picture_frame const f = frame_of(p);
  EXPECT_GE(f.panels[1].x, f.panels[0].x + text_width(120, 13));
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_GE(f.width, f.panels[i].x + f.panels[i].width(p.panels[i]));
    EXPECT_GE(f.height, f.panels[i].y + f.panels[i].height(p.panels[i]));
  }
  EXPECT_GE(f.panels[3].y, f.panels[0].y + f.panels[0].height(p.panels[0]));
}

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(svg, of_a_layout_is_one_call) {
  std::string const svg = svg_of("Sw<1,0,1> o 0 o (2,4):(4,1)"_L);
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_NE(svg.find("Sw&lt;1,0,1&gt; o 0 o"), std::string::npos);
  EXPECT_EQ(svg.find("Sw<"), std::string::npos);
  EXPECT_EQ(count(svg, "</title></path>"), 8U);
  EXPECT_THROW(svg_of("(1000,1000)"_L), rejected);
}

TEST(files, of_32768_cells_stay_small) {
  picture const p = drawn("tile_to_shape(Sw<3,3,3> o 0 o (8,64):(64,1), (128,256))");
  std::string const svg = written(p, "svg", false);
  EXPECT_EQ(count(svg, "</title></path>"), 32768U);
  EXPECT_LT(svg.size(), 4000000U);
  EXPECT_LT(written(p, "html", false).size(), 4000000U);
  EXPECT_LT(written(p, "latex", false).size(), 1000000U);
  EXPECT_EQ(nlohmann::json::parse(written(p, "json", false))["panels"][0]["cells"].size(), 32768U);
}

}  // namespace
