// SPDX-License-Identifier: Apache-2.0
// tmem_layout_test.cpp  Layouts of tensor memory: places are distinct and inside, rows of registers
//                       agree with the formulas of the loads.
#include "tilewright/atom/tmem_layout.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tilewright/base/check.hpp"
#include "tilewright/layout/layout.hpp"

namespace tw {
namespace {

// PTX ISA, "Data Path Layout Organization": layouts E and G of .ws.
static_assert(tmem_accumulator_ws(64, 128) == "(64,(64,2)):(65536,(1,4194304))"_L);
static_assert(tmem_accumulator_ws(32, 128) == "(32,(32,4)):(65536,(1,2097152))"_L);
static_assert(tmem_accumulator_ws(128, 64) == "(128,64):(65536,1)"_L);
// Row m of the factors is in lane m % 32, column m / 32, once in each 32 lanes.
static_assert(tmem_scale_factors(128) == "((32,4),4,4):((262144,4),1,8388608)"_L);
static_assert(tmem_scale_factors(128, true) == "((32,2,2),4,2):((262144,4,16777216),1,8388608)"_L);
static_assert(tmem_copy_places(tmem_copy_shape::c32x128b_x4) == "(32,16,4):(262144,1,8388608)"_L);

/// All places are distinct, in 128 lanes and `columns` columns; `fill` of those bits are used.
void expect_places(layout const& l, int bits, int columns, int fill_of_16 = 16) {
  std::set<i64> places;
  for (i64 i = 0; i < size(l); ++i) {
    i64 const place = l(i), address = place / (32 / bits);
    ASSERT_GE(place, 0) << print(l).text;
    ASSERT_LT(address / tmem_lane, tmem_lanes) << print(l).text;
    ASSERT_LT(address % tmem_lane, columns) << print(l).text;
    ASSERT_TRUE(places.insert(place).second) << print(l).text << " at " << i;
  }
  EXPECT_EQ(static_cast<i64>(places.size()) * 16,
            i64{tmem_lanes} * columns * (32 / bits) * fill_of_16)
      << print(l).text;
}

TEST(TmemLayout, PlacesAreDistinctAndFillTheirColumns) {
  for (int const m : {32, 64, 128})
    for (int const n : {64, 128, 256}) expect_places(tmem_accumulator_ws(m, n), 32, n * m / 128);
  for (int const bits : {4, 8, 16, 32}) {
    expect_places(tmem_operand_a(1, 128, bits), bits, 8);
    expect_places(tmem_operand_a(2, 128, bits), bits, 8);
    expect_places(tmem_operand_a(2, 64, bits), bits, 8);
    expect_places(tmem_operand_a(1, 64, bits), bits, 8, 8);  // half of the lanes
  }
  for (int rows = 8; rows <= 256; rows += 8)
    expect_places(tmem_scale_factors(rows), 8, (rows + 31) / 32);
  for (int rows = 64; rows <= 256; rows += 64)
    expect_places(tmem_scale_factors(rows, true), 8, rows / 64);
  for (int s = 0; s < 5; ++s) {
    auto const shape = static_cast<tmem_copy_shape>(s);
    expect_places(tmem_copy_places(shape), 8, 4 * tmem_copy_chunks(shape));
  }
}

TEST(TmemLayout, RegistersAreWhereTheFormulaOfTheLoadSays) {
  for (int s = 0; s < 5; ++s)
    for (int n = 1; is_tmem_count(static_cast<tmem_shape>(s), n); n *= 2) {
      auto const shape = static_cast<tmem_shape>(s);
      layout const l = tmem_transfer(shape, n, n);
      int const registers = tmem_registers(shape, n);
      ASSERT_EQ(size(l), 128 * registers);
      for (int t = 0; t < 128; ++t)
        for (int r = 0; r < registers; ++r) {
          tmem_cell const c = tmem_cell_of(shape, t % 32, r, n);
          ASSERT_EQ(l(i64{t} + i64{128} * r), (c.lane + t / 32 * 32) * tmem_lane + c.column)
              << "shape " << s << ", count " << n << ", thread " << t << ", register " << r;
        }
      bool const all = shape == tmem_shape::l32x32b;
      expect_places(l, 32, (all ? 1 : 2) * registers, all ? 16 : 8);
    }
}

TEST(TmemLayout, ACopyOf512BytesPutsFactorsWhereAMultiplyReadsThem) {
  // The four bytes of row m lie at 16 (m % 32) + 4 (m / 32) of the block that is copied.
  layout const copied = tmem_copy_places(tmem_copy_shape::c32x128b_x4);
  layout const read = tmem_scale_factors(128);
  for (int copy = 0; copy < 4; ++copy)
    for (int m = 0; m < 128; ++m)
      for (int f = 0; f < 4; ++f)
        ASSERT_EQ(read(i64{m} + 128 * (f + 4 * copy)),
                  copied(m % 32 + 32 * (m / 32 * 4 + f + 16 * copy)));
}

TEST(TmemLayout, ShapesThatNoInstructionHasAreRefused) {
  auto const code = [](auto&& make) -> std::string {
    try {
      make();
    } catch (rejected const& r) {
      return r.why().code;
    }
    return "none";
  };
  EXPECT_EQ(code([] { return tmem_accumulator_ws(96, 64); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_accumulator_ws(64, 96); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_operand_a(3, 64, 8); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_operand_a(1, 32, 8); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_operand_a(1, 64, 6); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_scale_factors(0); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_scale_factors(264); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_scale_factors(96, true); }), "TW0218");
  EXPECT_EQ(code([] { return tmem_transfer(tmem_shape::l16x256b, 64); }), "TW0218");
}

}  // namespace
}  // namespace tw
