// SPDX-License-Identifier: Apache-2.0
// block_quantize_test.cpp  The kernel that quantises blocks writes the host's bits from each type.
#include "dispatch/quantize/block_quantize.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/problem/block_quantize.hpp"

namespace tw::test {
namespace {

/// Random elements of the type as words of its size.
template <class Word>
std::vector<Word> random_elements(elem type, std::int64_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<Word> x(static_cast<std::size_t>(count));
  for (Word& word : x) {
    float const v = normal(random);
    if constexpr (sizeof(Word) == 4)
      word = bits_of_float(v);
    else
      word = type == elem::bf16 ? from_float<bf16>(v).bits : from_float<f16>(v).bits;
  }
  return x;
}

template <class Word>
void expect_bits_of_host(elem type, block_format format, std::int64_t rows, std::int64_t cols) {
  std::int64_t const pitch = cols + 3;
  auto const from = random_elements<Word>(type, rows * pitch);
  block_quantize_problem p{
      rows, cols, {type, order::row_major, pitch}, format, factor_order::swizzled, true};
  std::vector<std::uint8_t> values(static_cast<std::size_t>(rows * p.row_bytes()));
  std::vector<std::uint8_t> factors(static_cast<std::size_t>(p.factor_bytes()), 1);
  float const level = quantize(p, from.data(), values.data(), factors.data()).second_level;

  std::vector<std::uint32_t> to(values.size() / 4 + 1), of_blocks(factors.size() / 4 + 1);
  float second = -1.0F;
  block_quantize_params q{};
  q.from = from.data(), q.from_type = type, q.from_pitch = pitch;
  q.to = to.data(), q.to_pitch_bytes = p.row_bytes();
  q.factors = of_blocks.data(), q.second_level = &second;
  std::int64_t const across = p.factor_cols() / scale_tile_blocks;
  q.factor_outer = across * scale_tile_bytes, q.factor_k = scale_tile_bytes, q.tiled = 1;
  q.rows = rows, q.cols = cols, q.format = format;
  q.by_words = q.to_pitch_bytes % 4 == 0;
  emu::options options;
  options.os_threads = 1;
  quantize_blocks_emulated(q, options);
  EXPECT_EQ(std::memcmp(to.data(), values.data(), values.size()), 0);
  EXPECT_EQ(std::memcmp(of_blocks.data(), factors.data(), factors.size()), 0);
  if (format == block_format::nvfp4) {
    EXPECT_EQ(bits_of_float(second), bits_of_float(level));
  }
}

TEST(BlockQuantizeKernel, WritesTheBitsOfTheHost) {
  for (block_format const f : {block_format::mxfp8, block_format::mxfp4, block_format::nvfp4})
    for (auto const& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{33, 80}, {130, 256}}) {
      SCOPED_TRACE(std::string(traits_of(f).name));
      expect_bits_of_host<std::uint32_t>(elem::f32, f, rows, cols);
      expect_bits_of_host<std::uint16_t>(elem::bf16, f, rows, cols);
      expect_bits_of_host<std::uint16_t>(elem::f16, f, rows, cols);
    }
}

}  // namespace
}  // namespace tw::test
