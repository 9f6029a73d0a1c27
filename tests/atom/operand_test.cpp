// SPDX-License-Identifier: Apache-2.0
// operand_test.cpp  TMA writes an element where the descriptor's canonical layout reads it.
#include "tilewright/atom/operand.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tw {
namespace {

constexpr std::uint32_t address = 0x400;  // of the tile

/// Where wgmma finds element (mn, k) of one step, from the descriptor alone: PTX ISA, "Canonical
/// Layouts", in bytes, with chunks of T = 8 elements and c = span / 16 chunks in a span.
std::uint32_t canonical(smem_desc d, operand_major major, std::uint32_t mn, std::uint32_t k) {
  std::uint32_t const span = static_cast<std::uint32_t>(swizzle_span_bytes(d.swizzle()));
  std::uint32_t const lbo = d.leading_bytes(), sbo = d.stride_bytes(), c = span / 16;
  std::uint32_t at = d.address();
  if (major == operand_major::k) {
    at += mn % 8 * span + mn / 8 * sbo + k % 8 * 2;
    at += d.swizzle() == swizzle_mode::none ? k / 8 * lbo : k / 8 * 16;
  } else if (d.swizzle() == swizzle_mode::none) {
    at += mn % 8 * 2 + mn / 8 * sbo + k % 8 * 16 + k / 8 * lbo;
  } else {
    at += mn % 8 * 2 + mn / 8 % c * 16 + mn / 8 / c * lbo + k % 8 * span + k / 8 * sbo;
  }
  return swizzled(at, d.swizzle());
}

template <class Tile, operand_major Major>
void check_tile(int extent) {
  SCOPED_TRACE(testing::Message() << (Major == operand_major::k ? "K" : "MN") << "-major, span "
                                  << Tile::span << ", extent " << extent);
  constexpr int k_extent = 64;
  std::set<int> offsets;
  int const rounded =
      Major == operand_major::k ? extent : (extent + Tile::span - 1) / Tile::span * Tile::span;
  for (int mn = 0; mn < rounded; ++mn)
    for (int k = 0; k < k_extent; ++k) offsets.insert(Tile::offset_bytes(extent, mn, k));
  // One to one onto the tile's bytes.
  EXPECT_EQ(offsets.size(), static_cast<std::size_t>(rounded * k_extent));
  EXPECT_EQ(*offsets.rbegin(), Tile::bytes(extent) - 2);

  // Box i holds what its coordinates say, innermost index first.
  operand_box const box = Tile::box(extent);
  for (int i = 0; i < Tile::boxes(extent); ++i) {
    auto const at = Tile::box_at(1000, 2000, i);
    for (int outer = 0; outer < box.outer; ++outer)
      for (int inner = 0; inner < box.inner; ++inner) {
        int const contiguous = at.c[0] + inner, other = at.c[1] + outer;
        int const mn = (Major == operand_major::k ? other : contiguous) - 1000;
        int const k = (Major == operand_major::k ? contiguous : other) - 2000;
        int const plain = Tile::box_offset_bytes(extent, i) + (outer * box.inner + inner) * 2;
        ASSERT_EQ(Tile::offset_bytes(extent, mn, k),
                  static_cast<int>(swizzled(static_cast<std::uint32_t>(plain), Tile::mode)));
      }
  }

  // A descriptor of each step, from the start of the tile and from a later row.
  int const later = Major == operand_major::k ? 8 : Tile::span;
  for (int first : {0, later})
    for (int step = 0; step < k_extent; step += 16)
      for (int mn = 0; mn + first < extent; ++mn)
        for (int k = 0; k < 16; ++k)
          ASSERT_EQ(canonical(Tile::desc(address, extent, first, step), Major,
                              static_cast<std::uint32_t>(mn), static_cast<std::uint32_t>(k)),
                    address + static_cast<std::uint32_t>(
                                  Tile::offset_bytes(extent, first + mn, step + k)))
              << "element (" << first + mn << ", " << step + k << ")";
}

template <swizzle_mode S>
void check_swizzle() {
  for (int extent : {8, 64, 72, 128, 256}) {
    check_tile<operand_tile<elem::bf16, operand_major::k, S>, operand_major::k>(extent);
    check_tile<operand_tile<elem::f16, operand_major::mn, S>, operand_major::mn>(extent);
  }
}

TEST(OperandTile, DescriptorsReadWhatTmaWrote) {
  check_swizzle<swizzle_mode::none>();
  check_swizzle<swizzle_mode::b32>();
  check_swizzle<swizzle_mode::b64>();
  check_swizzle<swizzle_mode::b128>();
}

TEST(OperandTile, TilesOfTheGemmLieOneAfterTheOther) {
  // Shares of a tile that two CTAs load make up the whole tile (128-byte swizzle, K = 64).
  using k = operand_tile<elem::bf16, operand_major::k, swizzle_mode::b128>;
  using mn = operand_tile<elem::bf16, operand_major::mn, swizzle_mode::b128>;
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 64; ++j) {
      int const share = i / 128 * k::bytes(128);
      EXPECT_EQ(k::offset_bytes(256, i, j), share + k::offset_bytes(128, i % 128, j));
      EXPECT_EQ(mn::offset_bytes(256, i, j), share + mn::offset_bytes(128, i % 128, j));
    }
  EXPECT_EQ(box_of(elem::bf16, operand_major::k, swizzle_mode::b128, 128).outer, 128);
  EXPECT_EQ(box_of(elem::bf16, operand_major::mn, swizzle_mode::b128, 128).outer, 64);
}

}  // namespace
}  // namespace tw
