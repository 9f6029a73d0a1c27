// SPDX-License-Identifier: Apache-2.0
// transpose_test.cpp  The transpose in unit tests: a run of the emulator is a report.
#include "transpose.hpp"

#include <gtest/gtest.h>

#include <vector>

struct matrix {
  static constexpr int rows = 64, cols = 96;
  std::vector<float> in, out;

  matrix() : out(rows * cols) {
    for (int i = 0; i < rows * cols; ++i) in.push_back(static_cast<float>(i));
  }
  emu::report transposed(bool forget_the_barrier, emu::options const& o = {}) {
    int const ctas = rows / transpose::tile * (cols / transpose::tile);
    return emu::run(transpose{}, ctas, {in.data(), out.data(), rows, cols, forget_the_barrier}, o);
  }
};

TEST(Transpose, IsRightAndWithoutHazards) {
  matrix m;
  emu::report const report = m.transposed(false);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(report.counts.plain_stores, matrix::rows * matrix::cols) << "each seen, none invented";
  EXPECT_EQ(report.counts.plain_loads, matrix::rows * matrix::cols);
  for (int i = 0; i < matrix::rows * matrix::cols; ++i)
    ASSERT_EQ(m.out[static_cast<std::size_t>(i % matrix::cols * matrix::rows + i / matrix::cols)],
              m.in[static_cast<std::size_t>(i)]);
}

TEST(Transpose, NeedsItsBarrierUnderEverySchedule) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    emu::options o;
    o.seed = seed;
    o.random_warps = true;
    matrix m;
    emu::report const report = m.transposed(true, o);
    EXPECT_TRUE(report.has("E0024") || report.has("E0029")) << report.text();
  }
}
