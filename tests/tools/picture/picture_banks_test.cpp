// SPDX-License-Identifier: Apache-2.0
// picture_banks_test.cpp  The banks overlay agrees with the bank report, cell by cell.
#include "tests/tools/support.hpp"
#include "tools/picture/bank_picture.hpp"
#include "tools/picture/request.hpp"

namespace {

using namespace tw;
using namespace tw_test;

TEST(bank_picture, shows_each_thread_in_each_of_its_banks) {
  for (auto const& [access, text] : {std::pair{"ldmatrix.x4", "(64,64):(64,1)"},
                                     {"ld.32", "(32,32):(34,1)"},
                                     {"st.128", "Sw<3,3,3> o 0 o (8,64):(64,1)"},
                                     {"ld.64", "(16,64):(64,1)"}}) {
    layout const tile = parse_layout(text, static_cast<int>(std::string(text).size()));
    access_kind const kind = *access_named(access);
    layout const map = natural_map(kind, tile, 16);
    bank_totals const totals = count_banks(kind, tile, 16, map);
    bank_report const r = count_banks(access_of(kind, tile, 16, map, totals.worst));
    picture const p = bank_picture(access, tile, 16);
    panel const &waves = p.panels[0], &cells = p.panels[1];
    EXPECT_EQ(waves.rows, r.wavefronts) << text;
    i64 uses = 0, surplus = 0;
    for (i64 w = 0; w < waves.rows; ++w) {
      bool marked = false;
      for (i64 b = 0; b < 32; ++b) {
        for (cell_owner const& o : waves.at(w, b).owners) {
          bank_use const& u = r.thread[o.thread];
          EXPECT_EQ(u.wavefront, w);
          EXPECT_EQ(u.bank + o.value, b);
          ++uses;
        }
        marked = marked || waves.at(w, b).colour == warning;
      }
      surplus += marked ? 1 : 0;
    }
    EXPECT_EQ(surplus, r.wavefronts - r.ideal) << text;
    i64 need = 0;
    for (bank_use const& u : r.thread) need += u.banks;
    EXPECT_EQ(uses, need);
    i64 touched = 0;
    for (cell const& k : cells.cells) touched += static_cast<i64>(k.owners.size());
    EXPECT_EQ(touched, size(mode(map, 0)) * size(mode(map, 1)));
  }
}

TEST(bank_picture, says_how_to_avoid_conflicts) {
  picture const p = bank_picture("ldmatrix.x4", "(64,64):(64,1)"_L, 16);
  EXPECT_EQ(p.captions[0], "elements of 16 bits; step 0 of 16: 32 wavefronts, at best 4");
  EXPECT_EQ(p.captions[2], "without conflicts: Sw<3,3,3> o 0 o (64,64):(64,1)");
  // Row 3, columns 8 to 15 belong to thread 19, in banks 4 to 7.
  EXPECT_EQ(p.panels[1].at(3, 9).text, "T19\nb4");
  EXPECT_EQ(p.panels[1].at(3, 9).colour, 1);
  EXPECT_EQ(p.panels[1].at(40, 9).colour, pale);
  auto const code = [](picture_request const& r) {
    return rejection_of([&] { (void)picture_of(r); }).code;
  };
  EXPECT_EQ(code({.expression = "(64,64)", .banks = "ldmatrix.x3"}), "TW0626");
  EXPECT_EQ(code({.expression = "(64,64):(1,3)", .banks = "ld.32"}), "TW0161");
}

}  // namespace
