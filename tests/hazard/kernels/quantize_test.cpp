// SPDX-License-Identifier: Apache-2.0
// quantize_test.cpp  The quantising kernel, with its ordinary loads and stores seen: no hazards
//                    where a CTA has many blocks, or all share one.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "dispatch/quantize/quantize.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/quantize/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

TEST(QuantizeHazards, NoneInAnyScaling) {
  constexpr std::int64_t outer = 300, k = 520;
  std::vector<float> const from(outer * k, 1.5F);
  std::vector<std::uint8_t> to(outer * k);
  std::vector<float> scales(outer * 8);
  std::uint32_t workspace = 0;
  for (scaling const kind :
       {scaling::tensor, scaling::row, scaling::block_1x128, scaling::block_128x128}) {
    quantize_problem const p{outer,
                             k,
                             {elem::f32, order::row_major, k},
                             {elem::e4m3, order::row_major, k},
                             make_scale({false, outer, k}, kind)};
    quantize_params q = quantize_params_of(p, {from.data(), to.data(), scales.data(), &workspace});
    for (bool more = true; more;) {
      emu::options o;
      o.random_warps = true;
      emu::report const report = emu::run(quantize_kernel{}, 4, q, o);
      EXPECT_TRUE(report.clean()) << name(kind) << ": " << report.text();
      more = q.pass == quantize_pass::amax;
      q.pass = quantize_pass::values;
    }
    EXPECT_EQ(to[outer * k - 1], 0x7E) << name(kind);  // 448, the largest
  }
}

}  // namespace
}  // namespace tw::test
