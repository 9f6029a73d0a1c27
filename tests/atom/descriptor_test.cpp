// SPDX-License-Identifier: Apache-2.0
// descriptor_test.cpp  Derived descriptors find every element, and are those of operand.hpp.
#include "tilewright/atom/descriptor.hpp"

#include <gtest/gtest.h>

#include "tilewright/atom/operand.hpp"

namespace tw {
namespace {

constexpr smem_swizzle all[] = {smem_swizzle::none, smem_swizzle::b32, smem_swizzle::b64,
                                smem_swizzle::b128, smem_swizzle::b128_base32};

static_assert(make_wgmma_descriptor(places_of_operand(
                  operand_step("Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))"_L, 16, 2),
                  operand_major::k, 16)) ==
              wgmma_descriptor{
                  .start_16b = 4, .leading_16b = 1, .stride_16b = 64, .layout_type = 1});

/// Byte address of element (mn, k) of a step, from the places alone (the formula of descriptor.hpp,
/// PTX ISA "Canonical Layouts"), before the swizzle.
i64 canonical(operand_places const& p, operand_major major, i64 bits, i64 mn, i64 k) {
  i64 const unit = 128 / bits;
  i64 const row = major == operand_major::k ? mn : k;
  i64 const along = major == operand_major::k ? k : mn;
  i64 const u = along / unit;
  i64 const w = span_bytes(p.mode) / 16;
  i64 at = p.start_bytes + along % unit * bits / 8;
  i64 const group = rows_of(p.mode);
  at += row % group * w * 16;
  if (major == operand_major::k) {
    at += row / group * p.stride_bytes;
    at += u * (p.mode == smem_swizzle::none ? p.leading_bytes : 16);
  } else if (p.mode == smem_swizzle::none) {
    at += u * p.stride_bytes + row / group * p.leading_bytes;
  } else {
    at += u % w * 16 + u / w * p.leading_bytes + row / group * p.stride_bytes;
  }
  return byte_swizzle(p.mode)(at);
}

/// Law: the descriptor of each step finds each element where the tile's layout has it.
TEST(Descriptor, FindsEveryElement) {
  int steps = 0;
  for (operand_major const major : {operand_major::k, operand_major::mn}) {
    for (smem_swizzle const s : all) {
      if (s == smem_swizzle::b128_base32 && major == operand_major::k) continue;
      for (i64 bits : {8, 16, 32}) {
        for (i64 mn : {64, 128, 192, 256}) {
          i64 const k = 1024 / bits;  // 128 bytes: four steps
          layout const atom = smem_atom(major, s, bits);
          if (mn % atom.extent(0) != 0 || k % atom.extent(1) != 0) continue;
          for (bool const k_first : {false, true}) {
            layout const tile =
                tile_to_shape(atom, make_shape(mn, k), k_first ? make_tree(1, 0) : make_tree(0, 1));
            for (i64 step = 0; step < 4; ++step, ++steps) {
              operand_places const p =
                  places_of_operand(operand_step(tile, bits, step), major, bits);
              EXPECT_EQ(p.mode, s);
              i64 const width = 256 / bits;
              for (i64 i = 0; i < mn; ++i) {
                for (i64 j = 0; j < width; ++j) {
                  ASSERT_EQ(canonical(p, major, bits, i, j), tile(i, step * width + j) * bits / 8)
                      << print(tile).text << " step " << step << " element " << i << ',' << j;
                }
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(steps, 500);
}

/// The layout that operand_tile<...> has: boxes one span wide, one after the other.
layout layout_of_boxes(operand_major major, smem_swizzle s, i64 extent, i64 k) {
  return tile_to_shape(smem_atom(major, s, 16), make_shape(extent, k),
                       major == operand_major::k ? make_tree(0, 1) : make_tree(1, 0));
}

template <operand_major Major, swizzle_mode S>
void compare_with_operand(int extent) {
  using tile = operand_tile<elem::bf16, Major, S>;
  constexpr std::uint32_t address = 0x2000;
  layout const l = layout_of_boxes(Major, smem_swizzle_of(S), extent, 64);
  for (int mn = 0; mn < extent; ++mn) {
    for (int k = 0; k < 64; ++k) {
      ASSERT_EQ(l(mn, k) * 2, tile::offset_bytes(extent, mn, k)) << mn << ',' << k;
    }
  }
  for (int k = 0; k < 64; k += 16) {
    operand_places const p = places_of_operand(operand_step(l, 16, k / 16), Major, 16);
    smem_desc const ours = make_wgmma_descriptor(p).at(address);
    smem_desc const theirs = tile::desc(address, extent, 0, k);
    EXPECT_EQ(ours.address(), theirs.address());
    EXPECT_EQ(ours.swizzle(), theirs.swizzle());
    EXPECT_EQ(ours.bits >> 46U & 0xFFFFU, theirs.bits >> 46U & 0xFFFFU);
    // An offset that no element uses is 0 here, the box there.
    bool const several_spans = extent > tile::span;
    bool const plain_rows = S == swizzle_mode::none;
    if (Major == operand_major::k || plain_rows || several_spans) {
      EXPECT_EQ(ours.leading_bytes(), theirs.leading_bytes());
    }
    if (Major == operand_major::k ? extent > 8 : !plain_rows || several_spans) {
      EXPECT_EQ(ours.stride_bytes(), theirs.stride_bytes());
    }
  }
}

template <swizzle_mode S>
void compare_swizzle() {
  for (int extent : {8, 64, 128, 192, 256}) {
    SCOPED_TRACE(testing::Message() << swizzle_span_bytes(S) << " bytes, extent " << extent);
    compare_with_operand<operand_major::k, S>(extent);
    if (extent % (swizzle_span_bytes(S) / 2) == 0) {
      compare_with_operand<operand_major::mn, S>(extent);
    }
  }
}

TEST(Descriptor, IsTheKernelsOwn) {
  compare_swizzle<swizzle_mode::none>();
  compare_swizzle<swizzle_mode::b32>();
  compare_swizzle<swizzle_mode::b64>();
  compare_swizzle<swizzle_mode::b128>();
}

/// PTX ISA, tcgen05 "Shared Memory Descriptor": the fields' bits.
TEST(Descriptor, Tcgen05Bits) {
  layout const tile = tile_to_shape(smem_atom(operand_major::mn, smem_swizzle::b128_base32, 32),
                                    make_shape(64, 32));
  operand_places const p = places_of_operand(operand_step(tile, 32, 1), operand_major::mn, 32);
  tcgen05_descriptor const d = make_tcgen05_descriptor(p);
  EXPECT_EQ(d.layout_type, 1);
  EXPECT_EQ(d.version, 1);
  std::uint64_t const bits = d.at(0x4400);
  EXPECT_EQ(bits & 0x3FFFU, static_cast<std::uint64_t>(0x440 + d.start_16b));
  EXPECT_EQ(bits >> 16U & 0x3FFFU, static_cast<std::uint64_t>(d.leading_16b));
  EXPECT_EQ(bits >> 32U & 0x3FFFU, static_cast<std::uint64_t>(d.stride_16b));
  EXPECT_EQ(bits >> 46U & 7U, 1U);
  EXPECT_EQ(bits >> 49U & 0xFU, 0U);
  EXPECT_EQ(bits >> 61U, 1U);
}

}  // namespace
}  // namespace tw
