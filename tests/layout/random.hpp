// SPDX-License-Identifier: Apache-2.0
// random.hpp  Seeded random layouts; the seed is printed with every failure.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/effort.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/layout/answer.hpp"

namespace tw_test {

/// SplitMix64.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::int64_t below(std::int64_t n) {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<std::int64_t>((z ^ (z >> 31U)) % static_cast<std::uint64_t>(n));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

/// A shape of 1 to 4 leaves, size at most about `most`, nested at random.
inline tw::tree random_shape(random_source& r, std::int64_t most, int depth = 0) {
  constexpr int extents[] = {1, 2, 2, 2, 3, 4, 4, 5, 6, 8};
  if (depth == 2 || r.one_in(depth == 0 ? 6 : 2)) {
    std::int64_t const e = extents[r.below(10)];
    return tw::tree(e <= most ? e : 1);
  }
  tw::tree t;
  for (std::int64_t i = 1 + r.below(depth == 0 ? 3 : 2); i > 0 && t.n < 4; --i) {
    tw::tree const mode = random_shape(r, most, depth + 1);
    most /= size(mode);
    tw::detail::append(t, mode);
  }
  tw::detail::wrap(t);
  return t;
}

/// Compact in a random order, or with small strides, some of them 0.
inline tw::layout random_layout(random_source& r, std::int64_t most = 96) {
  tw::tree const shape = random_shape(r, most);
  tw::tree order = shape;
  for (int i = 0; i < order.n; ++i) order.leaf[i] = tw::num{r.below(8)};
  tw::layout l = make_ordered_layout(shape, order);
  std::int64_t const kind = r.below(4);
  for (int i = 0; i < l.shape.n; ++i) {
    if (kind == 0) l.stride[i] = tw::num{r.below(13)};
    if (kind == 1) l.stride[i].v *= 1 + r.below(3);
    if (kind == 2 && r.one_in(4)) l.stride[i] = tw::num{};
  }
  return l;
}

/// Runs `law` on random inputs until it held `all` times, or for a sample (tests/effort.hpp). A law
/// throws `rejected` where the operation refuses; that does not count. At most 40 tries for each
/// success.
template <class Law>
void holds_often(std::uint64_t seed, int all, Law const& law) {
  int const times = tw::test::sample(all);
  random_source r(seed);
  int held = 0;
  for (int tries = 0; held < times; ++tries) {
    ASSERT_LT(tries, 40 * times) << "seed " << seed << ": refused too often, held " << held;
    try {
      law(r);
      ++held;
    } catch (tw::rejected const&) {
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ", try " << tries;
      return;
    }
  }
}

}  // namespace tw_test
