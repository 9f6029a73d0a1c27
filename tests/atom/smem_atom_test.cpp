// SPDX-License-Identifier: Apache-2.0
// smem_atom_test.cpp  Shared-memory atoms are permutations, swizzled as TMA does, and the widest
// one that fits is chosen.
#include "tilewright/atom/smem_atom.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/atom/smem_choice.hpp"

namespace tw {
namespace {

constexpr smem_swizzle all_swizzles[] = {smem_swizzle::none, smem_swizzle::b32, smem_swizzle::b64,
                                         smem_swizzle::b128, smem_swizzle::b128_base32};

static_assert(smem_atom(operand_major::k, smem_swizzle::b128, 16) ==
              "Sw<3,3,3> o 0 o (8,64):(64,1)"_L);
static_assert(smem_atom(operand_major::mn, smem_swizzle::b32, 16) ==
              "Sw<1,3,3> o 0 o (16,8):(1,16)"_L);
static_assert(tile_to_shape(smem_atom(operand_major::k, smem_swizzle::b128, 16),
                            make_shape(128, 64)) ==
              "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))"_L);

/// An atom permutes [0, size), and element by element it is the hardware's swizzle of bytes.
TEST(SmemAtom, PermutesAndSwizzlesBytes) {
  for (operand_major const major : {operand_major::k, operand_major::mn}) {
    for (smem_swizzle const s : all_swizzles) {
      for (i64 bits : {1, 4, 8, 16, 32, 64, 128}) {
        layout const atom = smem_atom(major, s, bits);
        EXPECT_EQ(smem_swizzle_of(atom, bits), s);
        std::set<i64> places;
        i64 const span = span_elems(s, bits);
        for (i64 row = 0; row < rows_of(s); ++row) {
          for (i64 e = 0; e < span; ++e) {
            i64 const at = major == operand_major::k ? atom(row, e) : atom(e, row);
            places.insert(at);
            if (bits < 8) continue;
            auto const byte = static_cast<std::uint32_t>((row * span + e) * bits / 8);
            if (s == smem_swizzle::b128_base32) {  // 32-byte chunk xor row
              EXPECT_EQ(at * bits / 8, byte ^ (byte >> 7U & 3U) << 5U);
            }
            EXPECT_EQ(at * bits / 8, swizzled(byte, mode_of(s)));
            EXPECT_EQ(smem_swizzle_of(mode_of(s)), s);
          }
        }
        EXPECT_EQ(std::ssize(places), size(atom));
        EXPECT_EQ(*places.rbegin(), size(atom) - 1);
      }
    }
  }
}

TEST(SmemChoice, WidestThatFits) {
  auto const widest = [](operand_major m, i64 bits, i64 mn, i64 k) {
    return widest_smem_atom(m, bits, make_shape(mn, k)).mode;
  };
  EXPECT_EQ(widest(operand_major::k, 16, 128, 64), smem_swizzle::b128);
  EXPECT_EQ(widest(operand_major::k, 16, 128, 96), smem_swizzle::b64);
  EXPECT_EQ(widest(operand_major::k, 16, 128, 48), smem_swizzle::b32);
  EXPECT_EQ(widest(operand_major::k, 16, 128, 8), smem_swizzle::none);
  EXPECT_EQ(widest(operand_major::mn, 16, 192, 64), smem_swizzle::b128);
  EXPECT_EQ(widest(operand_major::mn, 8, 192, 64), smem_swizzle::b64);
  EXPECT_EQ(widest(operand_major::mn, 32, 192, 64), smem_swizzle::b128);
}

/// Law: the choice fills the tile and each piece, and every wider atom leaves a remainder.
TEST(SmemChoice, NoWiderOneFits) {
  for (i64 mn = 8; mn <= 256; mn += 8) {
    for (i64 k = 16; k <= 128; k += 16) {
      for (operand_major const m : {operand_major::k, operand_major::mn}) {
        smem_choice const c = widest_smem_atom(m, 16, make_shape(mn, k));
        EXPECT_EQ(size(tile_to_shape(c.atom, make_shape(mn, k))), mn * k);
        for (int i = 0; i + 1 < c.trials; ++i) {
          EXPECT_GT(span_bytes(c.tried[i].mode), span_bytes(c.mode));
          EXPECT_NE(c.tried[i].got % c.tried[i].need, 0);
        }
      }
    }
  }
}

/// The article's case: a tile of 192 columns, two warpgroups side by side. The tile would take
/// 128-byte rows; a warpgroup's 96 columns are 1.5 of them.
TEST(SmemChoice, APieceThatStartsInsideAnAtom) {
  tree const tile = make_shape(128, 192);
  EXPECT_EQ(widest_smem_atom(operand_major::k, 16, tile).mode, smem_swizzle::b128);
  smem_choice const c = widest_smem_atom(operand_major::k, 16, tile, make_shape(128, 96));
  EXPECT_EQ(c.mode, smem_swizzle::b64);
  EXPECT_EQ(to_string(c),
            "128 B does not fit: a piece's K = 96 is 1.5 spans of 64\n"
            "64 B fits: the atom is 8 x 32 elements\n");
}

}  // namespace
}  // namespace tw
