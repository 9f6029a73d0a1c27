// SPDX-License-Identifier: Apache-2.0
// fragment_test.cpp  stmatrix and ldmatrix against the sentence that defines them.
#include "emu/elements/fragment.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace tw::emu {
namespace {

struct warp {
  std::byte smem[32 * 16 + 64];  // 32 rows and a margin that nothing may touch
  std::byte* row[32];
  std::uint32_t regs[32][4];

  explicit warp(unsigned seed) {
    std::mt19937 random(seed);
    for (auto& b : smem) b = static_cast<std::byte>(random());
    int order[32];
    for (int i = 0; i < 32; ++i) order[i] = i;
    std::shuffle(order, order + 32, random);
    for (int i = 0; i < 32; ++i) row[i] = smem + 16 * order[i];
    for (auto& lane : regs)
      for (auto& word : lane) word = static_cast<std::uint32_t>(random());
  }
  std::uint16_t in_smem(int matrix, int r, int c) const {
    std::uint16_t bits;
    std::memcpy(&bits, row[8 * matrix + r] + 2 * c, 2);
    return bits;
  }
  /// Element (r, c) of a matrix in registers: lane 4r + c/2 holds it in half c % 2.
  std::uint16_t in_regs(int matrix, int r, int c) const {
    return static_cast<std::uint16_t>(regs[4 * r + c / 2][matrix] >> (16 * (c % 2)));
  }
};

template <class Check>
void each_element(int count, Check check) {
  for (int matrix = 0; matrix < count; ++matrix)
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) check(matrix, r, c);
}

TEST(fragment, stmatrix_puts_every_element_in_its_row_and_touches_no_other) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      warp const before(static_cast<unsigned>(count));
      warp after(static_cast<unsigned>(count));
      stmatrix_warp(count, transposed, after.row, after.regs);
      each_element(4, [&](int m, int r, int c) {
        std::uint16_t const got = after.in_smem(m, r, c);
        if (m < count)
          EXPECT_EQ(got, transposed ? before.in_regs(m, c, r) : before.in_regs(m, r, c));
        else
          EXPECT_EQ(got, before.in_smem(m, r, c));
      });
      EXPECT_EQ(std::memcmp(after.smem + 512, before.smem + 512, 64), 0);
    }
}

TEST(fragment, ldmatrix_reads_every_element_of_its_row) {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      warp const before(static_cast<unsigned>(count));
      warp after(static_cast<unsigned>(count));
      ldmatrix_warp(count, transposed, after.row, after.regs);
      each_element(4, [&](int m, int r, int c) {
        if (m < count)
          EXPECT_EQ(after.in_regs(m, r, c),
                    transposed ? before.in_smem(m, c, r) : before.in_smem(m, r, c));
        else
          EXPECT_EQ(after.in_regs(m, r, c), before.in_regs(m, r, c));
      });
    }
}

TEST(fragment, rows_of_unused_lanes_are_not_looked_at) {
  warp w(9);
  for (int lane = 8; lane < 32; ++lane) w.row[lane] = nullptr;
  stmatrix_warp(1, false, w.row, w.regs);
  EXPECT_EQ(w.in_smem(0, 3, 5), w.in_regs(0, 3, 5));
}

}  // namespace
}  // namespace tw::emu
