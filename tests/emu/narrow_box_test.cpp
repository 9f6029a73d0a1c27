// SPDX-License-Identifier: Apache-2.0
// narrow_box_test.cpp  TMA boxes of 4- and 6-bit elements, against a reference that moves one bit
//                      at a time.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "emu/elements/box.hpp"

namespace tw::emu {
namespace {

struct narrow {
  elem type;
  bool padded;
  swizzle_mode swizzle;
  int at[2];
};

void check(narrow const& c) {
  SCOPED_TRACE(testing::Message() << name(c.type) << " padded " << c.padded << " at " << c.at[0]
                                  << ", " << c.at[1]);
  std::mt19937 random(5);
  constexpr int columns = 256, rows = 12, box_rows = 8;
  int const bits = size_bits(c.type), pitch = columns * bits / 8;
  std::vector<std::uint64_t> words(static_cast<std::size_t>(rows * pitch / 8 + 4));
  for (auto& w : words) w = std::uint64_t{random()} << 32 | random();
  auto const* const bytes = reinterpret_cast<std::uint8_t const*>(words.data());
  tensor_map_desc m;
  m.base = words.data();
  m.type = c.type;
  m.padded = c.padded;
  m.dim[0] = columns;
  m.dim[1] = rows;
  m.stride_bytes[0] = pitch;
  m.box[0] = 128;
  m.box[1] = box_rows;
  m.swizzle = c.swizzle;
  bool const apart = m.is_padded();
  int const row_bytes = apart ? 128 : 128 * bits / 8;
  EXPECT_EQ(m.box_bytes(), box_rows * 128 * bits / 8);  // what the barrier counts
  EXPECT_EQ(box_smem_bytes(m), box_rows * row_bytes);
  std::vector<std::byte> smem(static_cast<std::size_t>(box_smem_bytes(m)), std::byte{0x5A});
  load_box(m, c.at, smem.data(), 1024);
  for (int r = 0; r < box_rows; ++r)
    for (int chunk = 0; chunk < row_bytes / 16; ++chunk) {
      std::uint32_t const at =
          swizzled(static_cast<std::uint32_t>(1024 + r * row_bytes + chunk * 16), c.swizzle) - 1024;
      int const data_bits = apart ? 16 * bits : 128;
      for (int b = 0; b < 128; ++b) {
        int const got = std::to_integer<int>(smem[at + static_cast<std::uint32_t>(b / 8)]) >> b % 8;
        int want = 1;  // padding
        if (b < data_bits) {
          int const element = c.at[0] + (chunk * data_bits + b) / bits;
          int const row = c.at[1] + r;
          int const bit = (c.at[0] * bits + chunk * data_bits + b) % (columns * bits);
          bool const inside = element >= 0 && element < columns && row >= 0 && row < rows;
          want = inside ? bytes[row * pitch + bit / 8] >> bit % 8 & 1 : 0;
        }
        ASSERT_EQ(got & 1, want) << r << ", " << chunk << ", " << b;
      }
    }
}

TEST(narrow_box, brings_packed_and_padded_elements) {
  for (elem const type : {elem::e2m1, elem::e2m3, elem::e3m2})
    for (swizzle_mode const s : {swizzle_mode::none, swizzle_mode::b128})
      for (int const at : {-128, 0, 128, 256}) {
        check({type, true, s, {at, 0}});
        check({type, true, s, {at, 8}});
      }
  for (int const at : {-32, 0, 64, 160, 256})
    check({elem::e2m1, false, swizzle_mode::b64, {at, -2}});
}

TEST(narrow_box, refuses_coordinates_and_stores) {
  tensor_map_desc m;
  m.type = elem::e2m3;
  int const whole[2] = {128, 0}, part[2] = {64, 0};
  EXPECT_EQ(coordinates_that_trap(m, whole, false), nullptr);
  EXPECT_NE(coordinates_that_trap(m, part, false), nullptr);
  EXPECT_NE(coordinates_that_trap(m, whole, true), nullptr);
  m.type = elem::e2m1;
  int const odd[2] = {16, 0}, chunk[2] = {32, 0};
  EXPECT_NE(coordinates_that_trap(m, odd, false), nullptr);
  EXPECT_EQ(coordinates_that_trap(m, chunk, true), nullptr);
}

}  // namespace
}  // namespace tw::emu
