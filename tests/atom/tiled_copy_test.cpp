// SPDX-License-Identifier: Apache-2.0
// tiled_copy_test.cpp  Tiled copies cover their tiles; partitions are the tensor at layout_s, _d.
#include "tilewright/atom/tiled_copy.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/layout/random.hpp"
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/tiled_copy_mma.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

constexpr copy_atom copy128 = in_values(copy_atom_named("copy.universal.128"), 32);
constexpr tiled_copy by_columns = make_tiled_copy(copy128, "(32,8)"_L, "(4,1)"_L);
static_assert(by_columns.tv == "(256,4):(4,1)"_L);
static_assert(layout_s(by_columns) == "(256,(4,1)):(4,(1,0))"_L);
static_assert(partition_s(by_columns, "(128,16):(1,128)"_L, 7).kept ==
              "((4,1),1,2):((1,0),0,1024)"_L);
static_assert(partition_s(by_columns, "(128,16):(1,128)"_L, 7).offset == 28);

constexpr char const* tiled[] = {
    "tiled_copy(copy_atom(copy.universal.128,32),(32,8),(4,1))",
    "tiled_copy(copy_atom(copy.universal.64,16),(8,16):(16,1),(2,8):(8,1))",
    "tiled_copy(copy_atom(copy.sm80.cp_async.cg.128,16),(16,8):(8,1),(1,8))",
    "tiled_copy(copy_atom(copy.element,16),(8,4),(2,2))",
    "tiled_copy(copy_atom(copy.sm75.ldmatrix.x4,16),(32,1),(1,8))",
    "cotiled_copy(copy_atom(copy.universal.64,16),(32,4):(4,1),(16,16))",
    "tiled_copy_A(copy_atom(copy.sm75.ldmatrix.x4,16),"
    "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1),(32,32,16)))",
    "tiled_copy_B(copy_atom(copy.sm75.ldmatrix.x4.t,16),"
    "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1),(32,32,16)))",
    "tiled_copy_C(copy_atom(copy.sm90.stmatrix.x4,16),"
    "tiled_mma(SM90_64x128x16_F32F16F16_SS_K_K,(2,1,1)))",
    "tiled_copy_C_atom(copy_atom(copy.sm90.stmatrix.x2,16),"
    "tiled_mma(SM90_64x96x16_F32BF16BF16_SS_K_K,(2,1,1)))",
};

/// A tile of 2^20 cells is checked while this file compiles.
constexpr tiled_copy wide =
    make_cotiled_copy(in_values(copy_atom_named("copy.universal.128"), 16),
                      "((128,8),(8,128)):((8,1024),(1,8192))"_L, "(1024,1024):(1024,1)"_L);
static_assert(wide.threads() == 1024 && wide.values() == 1024);

/// The check of leaves refuses exactly the maps of which a cell is wrong.
TEST(TiledCopy, CotiledMapsAreCheckedAsCellByCell) {
  int right = 0, wrong = 0;
  tw_test::random_source r(2094);
  for (int trial = 0; trial < 20000; ++trial) {
    layout const data = tw_test::random_layout(r);
    layout const tv = tw_test::random_layout(r);
    layout places;
    try {
      places = composition(left_inverse(data), tv);
    } catch (std::exception const&) {
      continue;  // no map to check
    }
    bool all = true;
    for (i64 i = 0; i < size(tv); ++i) {
      i64 const at = places(i);
      all = all && at >= 0 && at < size(data) && data(at) == tv(i);
    }
    bool accepted = true;
    try {
      detail::check_covered(data, places, tv);
    } catch (std::exception const&) {
      accepted = false;
    }
    (all ? right : wrong) += 1;
    ASSERT_EQ(accepted, all) << to_string(data) << " and " << to_string(tv) << ": "
                             << to_string(places);
  }
  EXPECT_GT(right, 100);
  EXPECT_GT(wrong, 100);
}

/// Law: source and destination name the same places, each as often as every other.
TEST(TiledCopy, SidesCoverTheSamePlaces) {
  for (char const* text : tiled) {
    SCOPED_TRACE(text);
    tiled_copy const c = parse_tiled_copy(text);
    std::map<i64, int> from, to;
    layout const s = layout_s(c), d = layout_d(c);
    for (i64 i = 0; i < size(s); ++i) ++from[s(i)];
    for (i64 i = 0; i < size(d); ++i) ++to[d(i)];
    EXPECT_EQ(std::ssize(from), size(c.tile.cells));
    EXPECT_EQ(std::ssize(to), size(c.tile.cells));
    for (auto const& [place, times] : from) {
      EXPECT_EQ(times, from.begin()->second);
      EXPECT_TRUE(to.contains(place));
    }
    for (auto const& [place, times] : to) EXPECT_EQ(times, to.begin()->second);
  }
}

/// Law: a partition visits, of each tile, the cells of layout_s; with and without swizzle.
TEST(TiledCopy, PartitionIsTheTensorAtTheLayout) {
  for (char const* text : tiled) {
    tiled_copy const c = parse_tiled_copy(text);
    for (char const* kind : {"(256,256):(256,1)", "(256,256):(1,256)",
                             "Sw<3,3,3> o 0 o ((8,32),(64,4)):((64,512),(1,16384))"}) {
      SCOPED_TRACE(testing::Message() << text << " of " << kind);
      layout const tensor = parse_layout(kind, static_cast<int>(std::string(kind).size()));
      bool fits = true;
      for (int i = 0; i < 2; ++i) {
        fits = fits && 256 % cosize(as_layout(mode(c.tile, i))) == 0;
      }
      if (!fits) continue;
      layout const d = zipped_divide(tensor, c.tile);
      for (i64 i = 0; i < 2 * c.threads(); i += 5) {  // each thread as source, then as destination
        bool const source = i < c.threads();
        i64 const t = i % c.threads();
        layout const s = source ? layout_s(c) : layout_d(c);
        sliced const part = source ? partition_s(c, tensor, t) : partition_d(c, tensor, t);
        ASSERT_EQ(size(mode(part.kept, 0)), size(mode(s, 1)));
        layout const rest = mode(d, 1);
        for (i64 v = 0; v < size(mode(s, 1)); ++v) {
          for (i64 r = 0; r < std::min<i64>(size(rest), 3); ++r) {
            tree const at = idx2crd(r, make_shape(size(mode(rest, 0)), size(mode(rest, 1))));
            i64 const ours = part.offset + part.kept(v, at.leaf[0].v, at.leaf[1].v);
            ASSERT_EQ(ours, d(s(t, v), r)) << t << ' ' << v << ' ' << r;
          }
        }
      }
    }
  }
}

/// Law: value i of the copy's part is register retile(...)(i) of the MMA's part.
TEST(TiledCopy, RetileNamesTheSameElements) {
  struct row {
    char const* copy;
    char const* mma;
    mma_operand which;
  };
  row const rows[] = {
      {"tiled_copy_A(copy_atom(copy.sm75.ldmatrix.x4,16),",
       "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1),(32,32,16))", mma_operand::a},
      {"tiled_copy_B(copy_atom(copy.sm75.ldmatrix.x4,16),",
       "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1),(32,32,16))", mma_operand::b},
      {"tiled_copy_B(copy_atom(copy.sm75.ldmatrix.x2,16),",
       "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1))", mma_operand::b},
      {"tiled_copy_C(copy_atom(copy.sm90.stmatrix.x4,16),",
       "tiled_mma(SM90_64x128x16_F32F16F16_SS_K_K,(2,1,1))", mma_operand::c},
      {"tiled_copy_C(copy_atom(copy.sm90.stmatrix.x2,16),",
       "tiled_mma(SM90_64x96x16_F32BF16BF16_SS_K_K,(1,1,1))", mma_operand::c},
      {"tiled_copy_C(copy_atom(copy.universal.32,16),",
       "tiled_mma(SM80_16x8x16_F32F16F16F32_TN,(2,2,1))", mma_operand::c},
  };
  for (row const& r : rows) {
    SCOPED_TRACE(r.copy);
    tiled_mma const mma = parse_tiled_mma(r.mma);
    tiled_copy const c = parse_tiled_copy(std::string(r.copy) + r.mma + ")");
    i64 const m = size(mode(detail::tile_places(c), 0)), n = size(mode(detail::tile_places(c), 1));
    layout const tensor = make_layout(2 * m, 3 * n);
    for (i64 t = 0; t < c.threads(); t += 3) {
      sliced const of_mma = partition(mma, r.which, t, tensor);
      sliced const of_copy =
          r.which == mma_operand::c ? partition_s(c, tensor, t) : partition_d(c, tensor, t);
      layout const registers = retile(c, make_layout_left(of_mma.kept.shape));
      ASSERT_EQ(size(registers), size(of_mma.kept));
      ASSERT_EQ(size(registers), size(of_copy.kept));
      for (i64 i = 0; i < size(registers); ++i) {
        ASSERT_EQ(of_mma.offset + of_mma.kept(registers(i)), of_copy.offset + of_copy.kept(i))
            << print(registers).text << " thread " << t << " value " << i;
      }
    }
  }
}

/// Values that run along n first: value 4 m + n is register m + 2 n of a column-major fragment.
TEST(TiledCopy, RetileFollowsTheValueOrder) {
  tiled_copy const c =
      parse_tiled_copy("tiled_copy(copy_atom(copy.universal.32,32),(4,8),(2,4):(4,1))");
  layout const registers = retile(c, "(1,2,4):(0,1,2)"_L);
  ASSERT_EQ(size(registers), 8);
  for (i64 m = 0; m < 2; ++m) {
    for (i64 n = 0; n < 4; ++n) EXPECT_EQ(registers(4 * m + n), m + 2 * n);
  }
}

}  // namespace
}  // namespace tw
