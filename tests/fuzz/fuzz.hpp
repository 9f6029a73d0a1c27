// SPDX-License-Identifier: Apache-2.0
// fuzz.hpp  A seeded loop: so many rounds, or TW_FUZZ_SECONDS of them; TW_FUZZ_SEED sets the seed.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/layout/random.hpp"

namespace tw_test {

/// Calls one_round(random, round) until the rounds (or the seconds) are over or something failed.
/// Every round has a separate seed, so that it can be repeated alone.
template <class Round>
std::int64_t fuzz(std::int64_t rounds, Round const& one_round) {
  char const* const seconds = std::getenv("TW_FUZZ_SECONDS");
  char const* const text = std::getenv("TW_FUZZ_SEED");
  std::uint64_t const seed = text != nullptr ? std::strtoull(text, nullptr, 10) : 20261121;
  auto const end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 0);
  std::int64_t round = 0;
  for (;; ++round) {
    bool const over = seconds == nullptr
                          ? round >= rounds
                          : round % 64 == 0 && std::chrono::steady_clock::now() >= end;
    if (over || testing::Test::HasFailure()) break;
    random_source random(seed * 1000003 + static_cast<std::uint64_t>(round));
    one_round(random, round);
  }
  EXPECT_FALSE(testing::Test::HasFailure()) << "seed " << seed << ", round " << round - 1;
  std::printf("%lld rounds, seed %llu\n", static_cast<long long>(round),
              static_cast<unsigned long long>(seed));
  return round;
}

}  // namespace tw_test
