// SPDX-License-Identifier: Apache-2.0
// operand_test.cpp  A matrix of a file in another type: each element is widened exactly and rounded
//                   once.
#include "tools/operand/operand.hpp"

#include <cmath>
#include <cstring>
#include <random>

#include "tests/tools/support.hpp"
#include "tilewright/base/convert.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// rows x cols elements of a type over these bytes.
matrix_view view_of(elem type, std::vector<std::byte> const& data) {
  return {type, order::row_major, 1, static_cast<std::int64_t>(data.size()) / size_bytes(type),
          data.data()};
}

TEST(operand, types_of_8_bits_are_widened_exactly_and_read_back) {
  std::vector<std::byte> all(3 * 256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  for (elem const type : {elem::e4m3, elem::e5m2, elem::s8, elem::u8}) {
    SCOPED_TRACE(name(type));
    matrix_view const m = view_of(type, all);
    for (elem const wide : {elem::f32, elem::f16, elem::bf16}) {
      operand const o(m, wide);
      operand const back(o.view(), type);
      for (std::int64_t i = 0; i < m.cols; ++i) {
        float const x = element(m, 0, i), y = element(o.view(), 0, i);
        if (std::isnan(x)) {
          EXPECT_TRUE(std::isnan(y));
          continue;
        }
        ASSERT_EQ(x, y) << i << " " << name(wide);
        if (std::isfinite(x)) {
          ASSERT_EQ(element(back.view(), 0, i), x) << i;
        }
      }
    }
  }
}

TEST(operand, floats_become_the_bf16_of_to_bf16) {
  std::vector<std::uint32_t> bits;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper)  // all signs, exponents and ties
    for (std::uint32_t const lower : {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      bits.push_back(upper << 16 | lower);
  for (std::uint32_t i = 0; i < 7; ++i) bits.push_back(0x7F7F7FFFU + i);  // no whole vector
  std::vector<std::byte> data(bits.size() * 4);
  std::memcpy(data.data(), bits.data(), data.size());
  operand const o(view_of(elem::f32, data), elem::bf16);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    std::uint16_t y = 0;
    std::memcpy(&y, o.view().data + 2 * i, 2);
    ASSERT_EQ(y, to_bf16(float_of_bits(bits[i])).bits) << std::hex << bits[i];
  }
}

TEST(operand, doubles_are_rounded_once) {
  // Halfway between two e4m3 numbers, and a little more: rounding twice would go to even.
  std::vector<double> const x{1.0625, 1.0625 + 0x1p-40, -17.5, -300.25, 1e300, 0x1p31, -2.5};
  std::vector<std::byte> data(x.size() * sizeof(double));
  std::memcpy(data.data(), x.data(), data.size());
  matrix_view m{elem::f32, order::row_major, 1, static_cast<std::int64_t>(x.size()), data.data()};
  m.doubles = true;
  auto const converted = [&](elem type) {
    operand const o(m, type);
    std::vector<float> y;
    for (std::int64_t i = 0; i < m.cols; ++i) y.push_back(element(o.view(), 0, i));
    return y;
  };
  EXPECT_EQ(converted(elem::e4m3), (std::vector<float>{1, 1.125F, -18, -288, 448, 448, -2.5F}));
  EXPECT_EQ(converted(elem::s8), (std::vector<float>{1, 1, -18, -128, 127, 127, -2}));
  EXPECT_EQ(converted(elem::s32),
            (std::vector<float>{1, 1, -18, -300, 2147483647.0F, 2147483647.0F, -2}));
}

}  // namespace
