// SPDX-License-Identifier: Apache-2.0
// accumulator_bits_test.cpp  The emulator's bit-exact sums: the probe finds the bits that
//                            base/accumulator_bits.hpp states, and random data gives the bits of
//                            the rule, for each kind of wgmma. tests/gpu/accumulator_bits.cu runs
//                            the same on a GPU.
#include "tilewright/base/accumulator_bits.hpp"

#include <gtest/gtest.h>

#include "tests/arch/kernels/bit_kinds.hpp"
#include "tests/arch/kernels/emulated.hpp"
#include "tests/effort.hpp"

namespace tw::test {
namespace {

emulated exact_emulator() {
  emu::options o;
  o.exact_sums = true;
  o.os_threads = 1;
  return emulated(o);
}

TEST(AccumulatorBits, RandomDataGivesTheBitsOfTheRule) {
  for (bit_kind<emulated> const& kind : bit_kinds<emulated>()) {
    emulated m = exact_emulator();
    EXPECT_EQ(kind.check(m, 1), "") << kind.name;
  }
}

TEST(AccumulatorBits, FastSumsHaveOtherBits) {
  emu::options o;
  o.os_threads = 1;
  emulated m(o);
  EXPECT_NE(bit_kinds<emulated>()[4].check(m, 1), "");
}

template <class K>
void expect_the_table() {
  emulated m = exact_emulator();
  accumulator_rule const rule = accumulator_rule_of(K::form.a_type, K::form.sums);
  auto const facts = accumulator_probe<K, emulated>(m).measure();
  auto const value = [&](std::string const& name) {
    for (probe_fact const& f : facts)
      if (f.name == name) return f.value;
    return std::string("absent");
  };
  std::string const kept = std::to_string(rule.kept_bits);
  EXPECT_EQ(value("products_kept_bits"), kept);
  EXPECT_EQ(value("products_kept_bits_beside_2.25_X"), kept);
  EXPECT_EQ(value("products_kept_bits_beside_accumulator"), kept);
  EXPECT_EQ(value("accumulator_kept_bits"), kept);
  EXPECT_EQ(value("accumulator_fraction_bits_without_products"), std::to_string(rule.result_bits));
  EXPECT_EQ(value("units_of_0.75"), "0");
  EXPECT_EQ(value("units_of_-1.75"), "-1");
  EXPECT_EQ(value("placements_in_which_y_is_kept"), "0");
  if (rule.to_nearest) {
    EXPECT_EQ(value("ulps_of_odd_plus_tie"), "2");
  }
}

TEST(AccumulatorBits, TheProbeFindsTheTable) {
  expect_the_table<wgmma_kind_kernel<elem::bf16, elem::bf16, float, 8>>();
  expect_the_table<wgmma_kind_kernel<elem::e4m3, elem::e4m3, f16, 8>>();
  if (!full_effort()) return;
  expect_the_table<wgmma_kind_kernel<elem::f16, elem::f16, f16, 8>>();
  expect_the_table<wgmma_kind_kernel<elem::tf32, elem::tf32, float, 16>>();
  expect_the_table<wgmma_kind_kernel<elem::e4m3, elem::e4m3, float, 8>>();
}

}  // namespace
}  // namespace tw::test
