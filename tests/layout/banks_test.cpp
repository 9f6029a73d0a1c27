// SPDX-License-Identifier: Apache-2.0
// banks_test.cpp  The laws of counting wavefronts. Counts of a GPU:
// tests/atom/access_test.cpp.
#include "tilewright/layout/banks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/effort.hpp"
#include "tests/layout/random.hpp"

namespace {

using namespace tw;
using namespace tw_test;

/// Thread t at t * stride + start bytes.
constexpr warp_access strided(bank_rule rule, int bytes, std::int64_t stride,
                              std::int64_t start = 0) {
  warp_access a;
  a.rule = rule;
  a.bytes = bytes;
  a.active = ~0U;
  for (int t = 0; t < 32; ++t) a.address[t] = start + t * stride;
  return a;
}

static_assert(wavefronts(strided(bank_rule::load, 4, 4)) == 1);
static_assert(wavefronts(strided(bank_rule::load, 4, 128)) == 32);
static_assert(wavefronts(strided(bank_rule::load, 4, 132)) == 1);
static_assert(wavefronts(strided(bank_rule::load, 8, 8)) == 2);
static_assert(wavefronts(strided(bank_rule::load, 16, 16)) == 4);
static_assert(wavefronts(strided(bank_rule::rows, 16, 16)) == 4);
static_assert(wavefronts(strided(bank_rule::rows, 16, 128)) == 32);
static_assert(wavefronts(strided(bank_rule::load, 1, 1)) == 1);
static_assert(wavefronts(strided(bank_rule::store, 2, 2)) == 1);

// One word for all: a broadcast, or a store that one thread wins. Wide stores are never joined.
static_assert(wavefronts(strided(bank_rule::load, 4, 0)) == 1);
static_assert(wavefronts(strided(bank_rule::store, 4, 0)) == 1);
static_assert(wavefronts(strided(bank_rule::load, 8, 0)) == 1);
static_assert(wavefronts(strided(bank_rule::store, 8, 0)) == 2);
static_assert(wavefronts(strided(bank_rule::load, 16, 0)) == 2);
static_assert(wavefronts(strided(bank_rule::store, 16, 0)) == 4);
static_assert(wavefronts(strided(bank_rule::rows, 16, 0)) == 4);

// Nothing takes part: nothing is counted.
static_assert(count_banks(warp_access{}).wavefronts == 0 && count_banks(warp_access{}).ideal == 0);

warp_access random_access(random_source& r) {
  constexpr int widths[] = {1, 2, 4, 8, 16};
  warp_access a;
  a.rule = static_cast<bank_rule>(r.below(3));
  a.bytes = a.rule == bank_rule::rows ? 16 : widths[r.below(5)];
  a.active = static_cast<std::uint32_t>(r.below(std::int64_t{1} << 32));
  if (r.one_in(2)) a.active = ~0U;
  std::int64_t const range = std::int64_t{1} << r.below(10);
  std::int64_t const same = r.below(4);
  for (int t = 0; t < 32; ++t) a.address[t] = r.below(range) * a.bytes;
  for (int t = 0; t < 32; ++t) a.address[t] = a.address[t & ~same];
  return a;
}

/// The count by the definition: groups given, sets of words by bank.
int by_definition(warp_access const& a, int threads) {
  int sum = 0;
  for (int begin = 0; begin < 32; begin += threads) {
    std::set<std::int64_t> words[bank_count];
    for (int t = begin; t < begin + threads; ++t) {
      if (!a.takes_part(t)) continue;
      for (std::int64_t b = a.address[t]; b < a.address[t] + a.bytes; ++b) {
        words[bank_of(b)].insert(b / bank_bytes);
      }
    }
    std::size_t most = 0;
    for (auto const& w : words) most = std::max(most, w.size());
    sum += static_cast<int>(most);
  }
  return sum;
}

TEST(Banks, CountsTheDifferentWordsOfTheFullestBank) {
  random_source r(71);
  for (int i = 0; i < tw::test::sample(100000); ++i) {
    warp_access const a = random_access(r);
    ASSERT_EQ(wavefronts(a), by_definition(a, detail::group_threads(a))) << "seed 71, case " << i;
  }
}

TEST(Banks, AreNeverFewerThanIdeal) {
  random_source r(72);
  for (int i = 0; i < tw::test::sample(100000); ++i) {
    warp_access const a = random_access(r);
    bank_report const c = count_banks(a);
    ASSERT_GE(c.wavefronts, c.ideal) << "seed 72, case " << i;
    ASSERT_EQ(c.ideal > 0, a.active != 0) << "seed 72, case " << i;
    ASSERT_EQ(c.collisions > 0, c.wavefronts > c.groups) << "seed 72, case " << i;
  }
}

/// Threads of a group may be exchanged, pairs with pairs, and the whole moved by 128 bytes.
TEST(Banks, DoNotDependOnTheOrderInsideAGroup) {
  random_source r(73);
  for (int i = 0; i < tw::test::sample(100000); ++i) {
    warp_access const a = random_access(r);
    int const threads = detail::group_threads(a);
    warp_access b = a;
    // An xor keeps who is whose neighbour, and so whether pairs agree.
    int const turn = static_cast<int>(r.below(threads));
    std::int64_t const move = 128 * r.below(5);
    for (int t = 0; t < 32; ++t) b.address[t ^ turn] = a.address[t] + move;
    b.active = 0;
    for (int t = 0; t < 32; ++t) {
      if (a.takes_part(t)) b.active |= 1U << (t ^ turn);
    }
    ASSERT_EQ(wavefronts(a), wavefronts(b)) << "seed 73, case " << i;
    ASSERT_EQ(count_banks(a).ideal, count_banks(b).ideal) << "seed 73, case " << i;
    if (a.rule != bank_rule::load || a.bytes <= 4) {  // any permutation
      for (int n = 0; n < 8; ++n) {
        int const t = static_cast<int>(r.below(32));
        int const u = t / threads * threads + static_cast<int>(r.below(threads));
        if (b.takes_part(t) && b.takes_part(u)) std::swap(b.address[t], b.address[u]);
      }
      ASSERT_EQ(wavefronts(a), wavefronts(b)) << "seed 73, case " << i;
    }
  }
}

/// The places are consistent: one bank gives one word in a wavefront.
TEST(Banks, PlacesAreASchedule) {
  random_source r(74);
  for (int i = 0; i < 20000; ++i) {
    warp_access const a = random_access(r);
    bank_report const c = count_banks(a);
    std::set<std::pair<int, int>> taken;          // wavefront, bank
    std::set<std::pair<int, std::int64_t>> seen;  // group, word
    int last = -1;
    std::uint32_t colliding = 0;
    for (int t = 0; t < 32; ++t) {
      bank_use const& u = c.thread[t];
      ASSERT_EQ(u.bank >= 0, a.takes_part(t));
      if (u.bank < 0) continue;
      ASSERT_EQ(u.bank, bank_of(a.address[t]));
      last = std::max(last, u.wavefront);
      for (int w = 0; w < u.banks; ++w) {
        if (!seen.insert({u.group, a.address[t] / bank_bytes + w}).second) continue;
        ASSERT_TRUE(taken.insert({u.wavefront, u.bank + w}).second) << "seed 74, case " << i;
      }
    }
    ASSERT_EQ(last + 1, c.wavefronts) << "seed 74, case " << i;
    for (int k = 0; k < c.collisions; ++k) {
      ASSERT_GE(c.collision[k].ways, 2);
      ASSERT_LE(c.collision[k].ways, __builtin_popcount(c.collision[k].threads));
      ASSERT_EQ(colliding & c.collision[k].threads, 0U);
      colliding |= c.collision[k].threads;
    }
  }
}

/// Measured, and in no manual: a load is joined only if one kind of pairs agrees in all
/// of the warp.
TEST(Banks, AreJoinedOnlyForTheWholeWarp) {
  warp_access a = strided(bank_rule::load, 8, 8);
  for (int t = 0; t < 32; ++t) a.address[t] = 8 * (t & ~1);
  EXPECT_EQ(wavefronts(a), 2) << "16 vectors, joined, two of them in each column";
  for (int t = 0; t < 32; ++t) a.address[t] = 8 * (t / 2);
  EXPECT_EQ(wavefronts(a), 1);
  for (int t = 16; t < 32; ++t) a.address[t] = 8 * ((t & 1) + t / 4 * 2 % 16);
  EXPECT_EQ(wavefronts(a), 2) << "pairs t, t ^ 1 below and pairs t, t ^ 2 above";
  a.active = 0xFFFF;
  EXPECT_EQ(wavefronts(a), 1);
}

}  // namespace
