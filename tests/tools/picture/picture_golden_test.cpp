// SPDX-License-Identifier: Apache-2.0
// picture_golden_test.cpp  Files of a few pictures, as they were looked at and accepted.
//
// TW_ACCEPT=1 writes them anew into tests/tools/data/pictures; look at them, then review the diff.
#include <cstdlib>

#include "tests/tools/support.hpp"
#include "tools/picture/request.hpp"

namespace {

using namespace tw;
using namespace tw_test;

void expect_accepted(std::string const& name, picture_request const& r, std::string const& how) {
  std::string const path = data_file("pictures/" + name);
  std::string const now = written(picture_of(r), how, false);
  if (std::getenv("TW_ACCEPT") != nullptr) write_file(path, now);
  std::string const accepted = read_file(path);
  EXPECT_FALSE(accepted.empty()) << path;
  EXPECT_TRUE(now == accepted) << name << " differs from the accepted file; TW_ACCEPT=1 writes it";
}

TEST(golden_pictures, are_unchanged) {
  picture_request const c{.expression = "((4,8),(2,2)):((32,1),(16,8))", .tv = "(16,8)"};
  expect_accepted("mma_c.txt", c, "table");
  expect_accepted("mma_c.svg", c, "svg");
  expect_accepted("mma_c.tex", c, "latex");
  expect_accepted("mma_c.json", c, "json");
  picture_request const steps{.expression = "zipped_divide((4,8):(8,1), (2,4))", .steps = true};
  expect_accepted("divide.txt", steps, "table");
  expect_accepted("divide.svg", steps, "svg");
  picture_request const swizzle{.expression = "Sw<2,0,3> o 0 o (8,8):(8,1)", .steps = true};
  expect_accepted("swizzle.txt", swizzle, "table");
  expect_accepted("swizzle.svg", swizzle, "svg");
  expect_accepted("tmem_d.txt", {.expression = "tmem.d.1cta.m64n8"}, "table");
  expect_accepted("tmem_a.txt", {.expression = "tmem.a.2cta.m128.f16"}, "table");
  expect_accepted("tmem_sfa.txt", {.expression = "tmem.sfa.1cta.m128.mxf8f6f4"}, "table");
  expect_accepted("tmem_cp.txt", {.expression = "tmem.cp.64x128b.warpx2::01_23"}, "table");
  expect_accepted("tmem_sfb.svg", {.expression = "tmem.sfb.1cta.m128n16.mxf4"}, "svg");
  expect_accepted("rank_4.txt", {.expression = "(2,3,2,2):(1,2,6,12)"}, "table");
}

}  // namespace
