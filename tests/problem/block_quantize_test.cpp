// SPDX-License-Identifier: Apache-2.0
// block_quantize_test.cpp  Factors in the order 32x4x4 equal the factors in linear order, each at
//                          its byte of the tile, for every row and block.
#include "tilewright/problem/block_quantize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tw {
namespace {

TEST(BlockQuantize, FactorsLieInTheirTilesAsInRows) {
  constexpr std::int64_t rows = 300, k = 208;  // three tiles of rows; blocks that fill no tile
  std::mt19937 random(7);
  std::vector<float> x(rows * k);
  for (float& v : x)
    v = std::ldexp(1.0F, static_cast<int>(random() % 20) - 10) *
        (1 + static_cast<float>(random() % 100) / 100);
  for (block_format const format :
       {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4}) {
    block_quantize_problem p{rows, k, {elem::f32, order::row_major, k}, format};
    block_quantize_problem linear = p;
    linear.order = factor_order::linear;
    std::vector<std::byte> values(static_cast<std::size_t>(rows * p.row_bytes()));
    std::vector<std::byte> tiled(static_cast<std::size_t>(p.factor_bytes()));
    std::vector<std::byte> plain(static_cast<std::size_t>(linear.factor_bytes()));
    (void)quantize(linear, x.data(), values.data(), plain.data());
    std::vector<std::byte> const values_of_linear = values;
    (void)quantize(p, x.data(), values.data(), tiled.data());
    EXPECT_EQ(values, values_of_linear);
    std::int64_t const blocks = p.blocks(), tiles = (blocks + 3) / 4;
    int wrong = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t b = 0; b < blocks; ++b) {
        // PTX ISA, "Scale factor layout": row r and block b of a tile of 128 rows and 4 blocks.
        std::int64_t const tile = r / 128 * tiles + b / 4;
        std::int64_t const at = tile * 512 + r % 32 * 16 + r % 128 / 32 * 4 + b % 4;
        wrong +=
            tiled[static_cast<std::size_t>(at)] != plain[static_cast<std::size_t>(r * blocks + b)];
      }
    EXPECT_EQ(wrong, 0) << traits_of(format).name;
  }
}

}  // namespace
}  // namespace tw
