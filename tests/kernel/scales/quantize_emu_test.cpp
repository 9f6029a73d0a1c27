// SPDX-License-Identifier: Apache-2.0
// quantize_emu_test.cpp  The quantising kernel in the emulator, with its checks of hazards, writes
//                        the bits that the host's function writes, and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "tests/effort.hpp"
#include "tests/kernel/scales/quantize_cases.hpp"
#include "tilewright/dispatch/quantize.hpp"

namespace tw::test {
namespace {

TEST(QuantizeEmu, SameBitsAsOnTheHost) {
  std::mt19937_64 rng(20261125);
  for (int i = 0; i < sample(60, 24) && !testing::Test::HasFailure(); ++i) {
    drawn const d = draw(rng);
    std::vector<std::byte> to(d.to_bytes, std::byte{0x5A}), scales(d.scale_bytes, std::byte{0x5A});
    std::vector<std::byte> host_to = to, host_scales = scales;
    quantize(d.problem, d.from.data(), host_to.data(), host_scales.data());
    std::uint32_t workspace = 7;
    emu::options o;
    o.seed = rng();
    o.random_warps = i % 2 != 0;
    o.sms = 1 + i % 3;
    quantize_emulated(d.problem, {d.from.data(), to.data(), scales.data(), &workspace}, o);
    ASSERT_EQ(to, host_to) << i << ": " << d.problem.outer << "x" << d.problem.k << " "
                           << name(d.problem.from.type) << " " << name(d.problem.to.type);
    ASSERT_EQ(scales, host_scales) << i;
  }
}

TEST(QuantizeEmu, RefusesAddressesThatAreMissing) {
  quantize_problem p{4, 4, {elem::f32, order::row_major, 4}, {elem::e4m3, order::row_major, 4}, {}};
  std::array<float, 16> x{};
  std::array<std::uint8_t, 16> y{};
  float scale = 0;
  auto const code = [&](quantize_operands const& o) -> std::string {
    try {
      quantize_emulated(p, o);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return "";
  };
  EXPECT_EQ(code({nullptr, y.data(), &scale, &scale}), "TW0408");
  EXPECT_EQ(code({x.data(), y.data(), &scale, nullptr}), "TW0408");
  EXPECT_EQ(code({y.data() + 1, y.data(), &scale, &scale}), "TW0409");
}

}  // namespace
}  // namespace tw::test
