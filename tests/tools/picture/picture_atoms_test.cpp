// SPDX-License-Identifier: Apache-2.0
// picture_atoms_test.cpp  Pictures of MMA and copy atoms, descriptors and TMA boxes say what the
// atoms, descriptors and layouts say.
#include <algorithm>

#include "tests/tools/support.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tools/picture/atom_picture.hpp"
#include "tools/picture/fields_picture.hpp"
#include "tools/picture/request.hpp"
#include "tools/picture/tma_picture.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// Every owner of a panel is where the thread-value layout says, and nowhere else.
void expect_owners(panel const& p, layout const& tv, i64 rows, bool transposed) {
  i64 owners = 0;
  for (cell const& k : p.cells) owners += static_cast<i64>(k.owners.size());
  EXPECT_EQ(owners, size(tv)) << p.title;
  for (i64 t = 0; t < size(mode(tv, 0)); ++t) {
    for (i64 v = 0; v < size(mode(tv, 1)); ++v) {
      i64 const at = tv(t, v);
      cell const& k = transposed ? p.at(at / rows, at % rows) : p.at(at % rows, at / rows);
      EXPECT_NE(std::ranges::find(k.owners, cell_owner{t, v}), k.owners.end())
          << p.title << " T" << t << " V" << v;
    }
  }
}

TEST(mma_picture, shows_thread_value_layouts_of_three_operands) {
  for (char const* const name :
       {"mma.sm80.m16n8k16.f32.f16.f16", "mma.sm80.m8n8k4.f64.f64.f64",
        "mma.sm90.m64n16k16.f32.bf16.bf16.rs", "SM80_16x8x8_F32BF16BF16F32_TN"}) {
    mma_atom const atom = one_mma(name);
    picture const p = atom_picture(name);
    ASSERT_EQ(p.panels.size(), 3U);
    panel const &b = p.panels[0], &a = p.panels[1], &c = p.panels[2];
    expect_owners(c, layout_c(atom), atom.m, false);
    expect_owners(a, layout_a(atom), atom.m, false);
    if (is_wgmma(atom)) {
      for (cell const& k : b.cells) EXPECT_TRUE(k.owners.empty() && k.colour == pale);
    } else {
      expect_owners(b, layout_b(atom), atom.n, true);
    }
    // A row of A and a column of B give an element of C.
    EXPECT_EQ(a.rows, c.rows);
    EXPECT_EQ(b.columns, c.columns);
    EXPECT_EQ(a.columns, b.rows);
    EXPECT_EQ(a.place_row, c.place_row);
    EXPECT_EQ(b.place_column, c.place_column);
    EXPECT_TRUE(p.aligned);
  }
}

TEST(mma_picture, of_tiles_and_of_ctas) {
  std::string const text = "tiled_mma(mma.sm80.m16n8k16.f32.f16.f16,(2,2,1))";
  tiled_mma const mma = parse_tiled_mma(text);
  picture const p = atom_picture(text);
  expect_owners(p.panels[2], tv_c(mma), 32, false);
  expect_owners(p.panels[1], tv_a(mma), 32, false);
  expect_owners(p.panels[0], tv_b(mma), 16, true);
  EXPECT_EQ(p.panels[1].at(0, 0).owners.size(), 2U);  // two warps along n read the same A
  picture const ctas = atom_picture("mma.sm100.m256n64k16.f32.f16.f16.ss.cta2");
  EXPECT_EQ(ctas.owner_name, "CTA");
  EXPECT_EQ(ctas.panels[2].at(200, 3).text, "CTA1");
}

TEST(copy_picture, has_a_source_and_a_destination) {
  picture const p = atom_picture("copy.sm75.ldmatrix.x4");
  copy_atom const a = in_values(one_copy("SM75_U32x4_LDSM_N"), 16);
  ASSERT_EQ(p.panels.size(), 2U);
  expect_owners(p.panels[0], a.src, 8, true);
  expect_owners(p.panels[1], a.dst, 8, true);
  // Thread 9 names row 9; its first two elements go to thread 4, values 2 and 3.
  EXPECT_EQ(p.panels[0].at(9, 0).text, "T9\nV0");
  EXPECT_EQ(p.panels[1].at(9, 1).text, "T4\nV3");
  for (std::string const& name : copy_names()) {
    EXPECT_EQ(copy_picture(name).panels.size(), 2U) << name;
  }
}

/// Each element of the tile belongs to the thread and value that the layouts of the copy say.
TEST(copy_picture, of_a_tiled_copy_shows_the_tile_that_it_moves) {
  picture const one =
      atom_picture("tiled_copy(copy_atom(UniversalCopy_128b,16),(16,8):(8,1),(1,8))");
  ASSERT_EQ(one.panels.size(), 1U);  // source and destination are the same
  EXPECT_EQ(one.panels[0].rows, 16);
  EXPECT_EQ(one.panels[0].columns, 64);
  EXPECT_EQ(one.panels[0].at(0, 0).text, "T0\nV0");
  EXPECT_EQ(one.panels[0].at(0, 9).text, "T1\nV1");
  EXPECT_EQ(one.panels[0].at(3, 63).text, "T31\nV7");
  char const* const text =
      "tiled_copy_A(copy_atom(SM75_U32x4_LDSM_N,16),"
      "tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN,(2,2,1),(32,32,16)))";
  tiled_copy const c = parse_tiled_copy(text);
  picture const two = atom_picture(text);
  ASSERT_EQ(two.panels.size(), 2U);
  i64 cells = 0;
  for (auto const& [p, tv] :
       {std::pair{&two.panels[0], layout_s(c)}, {&two.panels[1], layout_d(c)}})
    for (i64 t = 0; t < c.threads(); ++t)
      for (i64 v = 0; v < c.values(); ++v, ++cells) {
        i64 const at = tv(t + v * c.threads());
        EXPECT_TRUE(std::ranges::count(p->at(at % p->rows, at / p->rows).owners, cell_owner{t, v}))
            << t << " " << v;
      }
  EXPECT_EQ(cells, 2 * c.threads() * c.values());
  // As ldmatrix: T1 names row 1, whose first two elements T4 gets.
  EXPECT_EQ(two.panels[0].at(1, 0).text.substr(0, 3), "T1\n");
  EXPECT_EQ(two.panels[1].at(1, 0).text.substr(0, 3), "T4\n");
}

TEST(descriptor_picture, shows_each_bit_once) {
  layout const tile =
      tile_to_shape(smem_atom(operand_major::k, smem_swizzle::b128, 16), make_shape(64, 64));
  for (auto const kind : {descriptor_kind::wgmma, descriptor_kind::tcgen05}) {
    picture const p = descriptor_picture(kind, tile, operand_major::k, 16, 1);
    operand_places const at = places_of_operand(operand_step(tile, 16, 1), operand_major::k, 16);
    std::uint64_t const value = kind == descriptor_kind::wgmma
                                    ? std::uint64_t{make_wgmma_descriptor(at).at(0).bits}
                                    : make_tcgen05_descriptor(at).at(0);
    std::uint64_t shown = 0, of_fields = 0;
    for (int bit = 0; bit < 64; ++bit) {
      cell const& k = p.panels[0].at(3 - bit / 16, 15 - bit % 16);
      shown |= std::uint64_t{k.text == "1"} << bit;
      if (!k.owners.empty()) of_fields |= std::uint64_t{k.text == "1"} << bit;
      EXPECT_LE(k.owners.size(), 1U);
    }
    EXPECT_EQ(shown, value);
    EXPECT_EQ(of_fields, value) << "a bit that is set belongs to no field";
    EXPECT_NE(p.panels[1].cells[2].text.find("64 x 16 = 1024 bytes"), std::string::npos);
  }
}

TEST(tma_picture, shows_what_is_outside_and_where_the_rest_goes) {
  layout const gmem = "(20,40):(40,1)"_L;
  layout const smem = "Sw<1,3,3> o 0 o (16,16):(16,1)"_L;
  picture const p = tma_picture(gmem, smem, 8, -8, 16);
  panel const &g = p.panels[0], &s = p.panels[1];
  i64 outside = 0;
  for (i64 i = 0; i < 16; ++i) {
    for (i64 j = 0; j < 16; ++j) {
      cell const& k =
          g.at(8 + i - std::stoll(g.row_label(0)), -8 + j - std::stoll(g.column_label(0)));
      bool const in = 8 + i < 20 && j >= 8;
      outside += in ? 0 : 1;
      EXPECT_EQ(k.text, in ? std::to_string(gmem(8 + i, j - 8)) : "0");
      EXPECT_EQ(k.colour == warning, !in);
      EXPECT_EQ(k.owners[0].thread, smem(i, j));
      EXPECT_EQ(s.at(i, j).owners[0].thread, smem(i, j));
      EXPECT_EQ(s.at(i, j).colour, k.colour);
    }
  }
  EXPECT_EQ(p.captions[2], std::to_string(outside) + " elements are outside: zeros");
  EXPECT_NE(p.captions[0].find("box (16,16)"), std::string::npos);
}

std::string refusal_of_atom(picture_request const& r) {
  return rejection_of([&] { (void)picture_of(r); }).code;
}

TEST(atom_pictures, refuse_what_is_none) {
  EXPECT_EQ(refusal_of_atom({.expression = "mma.sm80.m16n8k15.f32.f16.f16"}), "TW0210");
  EXPECT_EQ(refusal_of_atom({.expression = "copy.sm75.ldmatrix.y4"}), "TW0233");
  EXPECT_EQ(refusal_of_atom({.expression = "(64,64,2)", .tma = "(8,8)"}), "TW0176");
  EXPECT_EQ(refusal_of_atom({.expression = "(64,64)", .tma = "(8,8)", .at = "3"}), "TW0176");
  EXPECT_EQ(refusal_of_atom({.expression = "size((64,64))", .tma = "(8,8)"}), "TW0170");
  EXPECT_EQ(refusal_of_atom({.expression = "(64,64)", .descriptor = "wmma"}), "TW0626");
  EXPECT_EQ(refusal_of_atom({.expression = "(64,64)", .descriptor = "wgmma"}), "TW0238");
}

}  // namespace
