// SPDX-License-Identifier: Apache-2.0
// divisor_test.cpp  The law of divisor: what the hardware's division says.
#include "tilewright/base/divisor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tw::test {
namespace {

constexpr int largest = std::numeric_limits<int>::max();

static_assert(divisor(1)(largest) == largest);
static_assert(divisor()(5) == 5);
static_assert(divisor(largest)(largest) == 1 && divisor(largest)(largest - 1) == 0);

/// At the multiples of d and beside them, where a multiplier that is off by one shows first.
void expect_quotients(int d, int x) {
  std::int64_t const multiple = std::int64_t{x} / d * d;
  for (std::int64_t const at : {std::int64_t{x}, multiple, multiple - 1, multiple + d - 1}) {
    if (at < 0 || at > largest) continue;
    ASSERT_EQ(divisor(d)(static_cast<int>(at)), at / d) << at << " / " << d;
  }
}

TEST(Divisor, DividesAsTheHardwareDoes) {
  for (int d = 1; d <= 4096; ++d)
    for (int const x : {0, 1, 4095, 65537, 1 << 30, largest}) expect_quotients(d, x);
  for (int bits = 1; bits < 31; ++bits)
    for (int const d : {(1 << bits) - 1, 1 << bits, (1 << bits) + 1})
      for (int const x : {0, d, largest / 3, largest}) expect_quotients(d, x);
  std::mt19937 random(7);
  for (int i = 0; i < 100'000; ++i) {
    int const d = static_cast<int>(random() >> (1 + random() % 31)) | 1;
    expect_quotients(d, static_cast<int>(random() >> 1));
  }
}

}  // namespace
}  // namespace tw::test
