// SPDX-License-Identifier: Apache-2.0
// rungs_test.cpp  Every rung is right under every kind of schedule, without a diagnosis; every
//                 planted bug gets the diagnosis that its row names.
#include <gtest/gtest.h>

#include <set>

#include "tools/check/mutants/mutants.hpp"
#include "tools/check/rungs/run.hpp"

namespace ladder {
namespace {

emu::options schedule(int family, std::uint64_t seed) {
  emu::options o = mutants::schedule(family, seed);
  o.os_threads = 0;
  o.bank_conflicts = false;
  return o;
}

/// Two tiles for a CTA of an emulated device with few SMs; the ring wraps around.
product const& small() {
  static product const x(256, 512, 448, 1);
  return x;
}

class Rung : public testing::TestWithParam<int> {
 protected:
  static rung const& it() { return rungs()[static_cast<std::size_t>(GetParam() - 1)]; }
};

TEST_P(Rung, IsRightUnderEveryKindOfSchedule) {
  static product const of_cuda_cores(64, 128, 40, 1);  // plain loads take their time
  product const& x = GetParam() == 1 ? of_cuda_cores : small();
  for (int family = 0; family < mutants::schedule_families; ++family) {
    run_result const r = run(it(), x, bug::none, schedule(family, 7), 2);
    EXPECT_TRUE(r.correct()) << mutants::schedule_name(family) << "\n" << r.report.text();
    EXPECT_TRUE(r.report.counts.hazards && r.report.counts.plain_accesses_seen);
  }
}

TEST_P(Rung, ComputesAnyShapeFromRung8On) {
  if (it().tile[0] > 1) GTEST_SKIP() << "whole tiles only";
  for (auto const [m, n, k] :
       {std::array{1, 1, 1}, std::array{130, 259, 72}, std::array{300, 8, 264}}) {
    product const x(m, n, k, 3);
    run_result const r = run(it(), x, bug::none, schedule(3, 5), 2);
    EXPECT_TRUE(r.correct()) << m << " " << n << " " << k << ": " << r.wrong.value_or(-1) << "\n"
                             << r.report.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Ladder, Rung, testing::Range(1, 12), [](auto const& info) {
  return std::string(rungs()[static_cast<std::size_t>(info.param - 1)].name).substr(3);
});

TEST(Rungs, StepsInsideOfRungsAreRightToo) {
  for (rung const& step : other_steps()) {
    run_result const r = run(step, small(), bug::none, schedule(3, 11), 4);
    EXPECT_TRUE(r.correct()) << step.name << ", " << step.idea << "\n" << r.report.text();
  }
}

TEST(Rungs, ExperimentsBesideThemAreRightToo) {
  for (rung const& side : side_rungs())
    for (int const family : {0, 1, 3}) {
      run_result const r = run(side, small(), bug::none, schedule(family, 13), 2);
      EXPECT_TRUE(r.correct()) << side.name << ", " << side.idea << "\n" << r.report.text();
    }
}

TEST(Rungs, ScalesOf128ElementsAreRightUnderEveryKindOfSchedule) {
  for (int family = 0; family < mutants::schedule_families; ++family) {
    run_result const r = run_fp8_scales(128, 256, 384, schedule(family, 13));
    EXPECT_TRUE(r.correct()) << mutants::schedule_name(family) << ": " << r.wrong.value_or(-1)
                             << "\n"
                             << r.report.text();
    EXPECT_EQ(r.report.counts.wgmmas, 4 * 3 * 4);  // tiles, blocks of K, instructions for a block
  }
}

/// Rows of 128 bytes without a swizzle: 8 rows of a matrix of stmatrix lie in the same banks.
TEST(Rungs, DWithoutASwizzleHasBankConflicts) {
  auto const wavefronts = [](rung const& r) {
    std::vector<emu::bank_traffic> banks;
    emu::options o = schedule(0, 1);
    o.banks = &banks;
    run(r, small(), bug::none, o, 2);
    std::array<std::int64_t, 2> sum{};
    for (emu::bank_traffic const& b : banks)
      if (b.what == emu::bank_access::stmatrix) sum = {sum[0] + b.wavefronts, sum[1] + b.ideal};
    return sum;
  };
  auto const swizzled = wavefronts(rungs()[9]);
  auto const plain = wavefronts(side_rungs().back());
  EXPECT_GT(swizzled[0], 0);
  EXPECT_EQ(swizzled[0], swizzled[1]);
  EXPECT_EQ(plain[0], 8 * plain[1]);
}

TEST(Rungs, OfBlackwellAreRightUnderEveryKindOfSchedule) {
  for (int family = 0; family < mutants::schedule_families; ++family) {
    for (rung const& one : blackwell_rungs()) {
      run_result const r = run(one, small(), bug::none, schedule(family, 7), 2);
      EXPECT_TRUE(r.correct()) << one.name << " " << mutants::schedule_name(family) << "\n"
                               << r.report.text();
      EXPECT_EQ(r.report.counts.wgmmas, 0);
      EXPECT_GT(r.report.counts.ummas, 0);
    }
    // Two stages are used again, and the last one has two blocks.
    run_result const r = run_nvfp4(256, 128, 1056, schedule(family, 7));
    EXPECT_TRUE(r.correct()) << "NVFP4 " << mutants::schedule_name(family) << ": "
                             << r.wrong.value_or(-1) << "\n"
                             << r.report.text();
  }
}

TEST(Rungs, AreNumberedAndNamed) {
  ASSERT_EQ(rungs().size(), 11U);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(rungs()[static_cast<std::size_t>(i)].number, i + 1);
}

TEST(Rungs, FewerBytesComeFromL2WithEachLargerTile) {
  auto const l2 = [](int number) {
    rung const& r = rungs()[static_cast<std::size_t>(number - 1)];
    run_result const done = run(r, small(), bug::none, schedule(0, 1), 2);
    return r.l2_share * static_cast<double>(done.report.counts.tma_load_bytes);
  };
  double const second = l2(2), third = l2(3), fifth = l2(5), eighth = l2(8);
  EXPECT_EQ(third, second / 2);      // 64 x 64 -> 128 x 128
  EXPECT_EQ(fifth, third * 3 / 4);   // 128 x 128 -> 128 x 256
  EXPECT_EQ(eighth, fifth * 2 / 3);  // B once for two CTAs
}

class Bug : public testing::TestWithParam<int> {
 protected:
  static planted_bug const& it() { return bugs()[static_cast<std::size_t>(GetParam())]; }
};

/// A smaller problem where the default one takes long.
product problem_of(planted_bug const& b) {
  if (b.rung == 1) return product(64, 64, 40, 1);
  if (b.shape[0] == 512) return product(256, 512, b.shape[2], 1);
  return product(b.shape[0], b.shape[1], b.shape[2], 1);
}

TEST_P(Bug, IsDiagnosedWithItsCode) {
  product const x = problem_of(it());
  rung const r = rung_of(it());
  int const sms = 2;
  for (int const family : {0, 3}) {
    run_result const broken = run(r, x, it().which, schedule(family, 2), sms);
    // A warp that runs ahead by a whole turn misses a phase; by less, it reads or writes too early.
    bool const early = it().which == bug::warps_apart && family == 3 &&
                       (broken.report.has("E0026") || broken.report.has("E0027"));
    EXPECT_TRUE(broken.report.has(it().code) || early)
        << it().name << " under " << mutants::schedule_name(family) << ": wrong elements "
        << broken.wrong.value_or(-1) << "\n"
        << broken.report.text();
    EXPECT_FALSE(broken.correct());
  }
  EXPECT_TRUE(run(r, x, bug::none, schedule(0, 2), sms).correct()) << "without the bug";
}

INSTANTIATE_TEST_SUITE_P(Ladder, Bug, testing::Range(0, static_cast<int>(bugs().size())),
                         [](auto const& info) {
                           std::string name(bugs()[static_cast<std::size_t>(info.param)].name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Bugs, EveryRungHasOne) {
  std::set<int> with;
  for (planted_bug const& b : bugs()) with.insert(b.rung);
  EXPECT_EQ(with.size(), 11U);
}

}  // namespace
}  // namespace ladder
