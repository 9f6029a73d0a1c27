// SPDX-License-Identifier: Apache-2.0
// scale_factors_test.cpp  Layouts of block scales against the formulas of the PTX ISA.
#include "tilewright/atom/scale_factors.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/print.hpp"

namespace {

using namespace tw;

/// The byte of factor s of row m, for rows padded to 128 and kb tiles of 4 factors.
i64 byte_32_4_4(i64 m, i64 s, i64 kb) {
  return m / 128 * 512 * kb + s / 4 * 512 + m % 32 * 16 + m % 128 / 32 * 4 + s % 4;
}

TEST(ScaleFactors, EveryElementFindsTheByteOfTheFormula) {
  std::mt19937 random(20261125);
  for (int trial = 0; trial < 60; ++trial) {
    i64 const block = random() % 2 == 0 ? 16 : 32;
    i64 const rows = 1 + random() % 400, k = 1 + random() % 500;
    layout const swizzled = scale_factors_32_4_4(rows, k, block);
    layout const linear = scale_factors_linear(rows, k, block);
    i64 const factors = (k + block - 1) / block, k_tiles = (factors + 3) / 4;
    for (i64 m = 0; m < rows; ++m)
      for (i64 i = 0; i < k; i += 1 + random() % 7) {
        ASSERT_EQ(swizzled(make_coord(m, i)), byte_32_4_4(m, i / block, k_tiles))
            << "row " << m << ", k " << i << " of " << rows << " x " << k;
        ASSERT_EQ(linear(make_coord(m, i)), m * factors + i / block);
      }
  }
}

TEST(ScaleFactors, NoTwoFactorsShareAByteAndTilesAreFull) {
  layout const l = scale_factors_32_4_4(200, 300, 32);  // padded to 256 rows and 12 factors
  std::set<i64> bytes;
  for (i64 m = 0; m < 256; ++m)
    for (i64 s = 0; s < 12; ++s) bytes.insert(l(make_coord(m, s * 32)));
  EXPECT_EQ(bytes.size(), 256U * 12U);
  EXPECT_EQ(cosize(l), 256 * 12);
}

TEST(ScaleFactors, ExpressionsHaveThem) {
  EXPECT_EQ(evaluate("scale_factors_32_4_4(256,128,16)").res,
            "((32,4,2),(16,4,2)):((16,4,1024),(0,1,512))");
  EXPECT_EQ(evaluate("scale_factors_linear(256,128,16)").res, "(256,(16,8)):(8,(0,1))");
  EXPECT_THROW(evaluate("scale_factors_linear(0,128,16)"), rejected);
}

}  // namespace
