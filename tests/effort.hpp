// SPDX-License-Identifier: Apache-2.0
// effort.hpp  How many of the random seeds and of the bit patterns a test takes: a sample, or with
//             TW_EFFORT=full in the environment (./dev test --full) all of them.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tw::test {

/// Does this run take all seeds and all bit patterns?
inline bool full_effort() {
  char const* const word = std::getenv("TW_EFFORT");
  return word != nullptr && std::string_view(word) == "full";
}

/// The cases that run of `all` random ones: an eighth, but no fewer than `least`.
inline int sample(int all, int least = 1) {
  if (full_effort() || all <= least) return all;
  int const eighth = (all + 7) / 8;
  return eighth < least ? least : eighth;
}

/// The distance of the bit patterns that run: every 7th, for an odd distance reaches all values of
/// the low bits.
inline int pattern_step() { return full_effort() ? 1 : 7; }

/// Does random case `i` of `all` run? A test that has not `covered` its subject, for instance each
/// kernel of the build, goes on beyond the sample.
inline bool runs_case(int i, int all, bool covered) {
  return i < sample(all) || (i < all && !covered);
}

}  // namespace tw::test
