// SPDX-License-Identifier: Apache-2.0
// offered_test.cpp  Whatever combination of types, sums, scales, orders and epilogue the planner
//                   accepts is computed: every one runs once in the emulator, with its checks of
//                   hazards, and is compared with float64. What it does not accept is refused with
//                   a remedy. By default one of 41 runs; with TW_OFFERED_ALL=1 all, which
//                   takes minutes.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <set>

#include "tests/kernel/emu_workspace.hpp"
#include "tests/tools/operand/offered_cases.hpp"
#include "tests/tools/support.hpp"
#include "tools/check/check.hpp"

namespace {

using namespace tw_test;

struct tally {
  int accepted = 0, refused = 0, ran = 0, not_built = 0;
  std::set<std::string> kernels;
  std::map<std::string, int> refusals;  // by code
};

/// A refusal names what it got and what would do.
void expect_remedy(rejection const& r, std::string const& text, tally& t) {
  ++t.refused;
  ++t.refusals[r.code];
  EXPECT_FALSE(r.got.empty() || r.need.empty()) << text << ": " << r.code << " " << r.what;
}

void run(offered const& c, std::uint64_t seed, test::emu_workspace& space, tally& t) {
  std::mt19937_64 random(seed);
  offered_gemm gemm(c, random);
  gemm_problem const& p = gemm.problem;
  gemm_operands o = gemm.operands;
  space.give(o);
  emu_options options;
  options.policy = static_cast<async_policy>(seed % 3);
  options.seed = seed, options.random_warps = seed % 2 != 0, options.sms = 4;
  options.os_threads = 1;
  device const dev = with_sm_count(known_device("h200"), options.sms);
  std::vector<gemm_plan> plans;
  try {
    plans = plan_candidates(p, o, dev, kernel_set::all);
  } catch (rejected const& r) {
    if (r.why().code == "TW0471") {  // a kernel for another architecture computes it
      EXPECT_NO_THROW(plan_candidates(p, o, known_device("b200"), kernel_set::all)) << c.text();
    }
    return expect_remedy(r.why(), c.text(), t);
  }
  ++t.accepted;
  std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
  if (plans.empty()) {
    ++t.not_built;
    return;
  }
  gemm_plan const& plan = plans[random() % plans.size()];
  t.kernels.insert(plan.kernel);
  ++t.ran;
  try {
    test::emulate(plan, o, options);
  } catch (std::exception const& e) {
    FAIL() << c.text() << ", seed " << seed << ", " << plan.kernel << ": " << e.what();
  }
  check_report const r = check_gemm(p, o);
  bool const wrong = r.wrong != 0 || r.wrong_scales != 0;
  EXPECT_FALSE(wrong) << c.text() << ", " << p.m << "x" << p.n << "x" << p.k << ", seed " << seed
                      << ", " << plan.kernel << ": " << r.wrong << " of " << r.rows * r.cols
                      << " elements and " << r.wrong_scales << " scales are wrong; D("
                      << r.largest_ratio.row << "," << r.largest_ratio.col
                      << ") = " << r.largest_ratio.got << ", want " << r.largest_ratio.expected
                      << " within " << r.largest_ratio.bound;
}

TEST(Offered, EveryAcceptedCombinationIsComputed) {
  bool const all = std::getenv("TW_OFFERED_ALL") != nullptr;
  std::vector<offered> const combinations = all_combinations();
  test::emu_workspace space;
  tally t;
  std::size_t const step = all ? 1 : 41;
  for (std::size_t i = 0; i < combinations.size() && !HasFailure(); i += step)
    run(combinations[i], i, space, t);
  std::string codes;
  for (auto const& [code, count] : t.refusals) codes += fmt::format(" {} {}", code, count);
  fmt::print(
      "{} combinations: {} accepted, of which {} ran by {} kernels and {} need others than "
      "this build has; {} refused:{}\n",
      combinations.size(), t.accepted, t.ran, t.kernels.size(), t.not_built, t.refused, codes);
  EXPECT_GT(t.ran, all ? 1500 : 40);
}

/// The codes that a refused combination may have. A new code is added here on purpose.
TEST(Offered, RefusalsAreOfTypesScalesAndEpilogues) {
  std::set<std::string> const known{"TW0404", "TW0405", "TW0414", "TW0415",
                                    "TW0438", "TW0454", "TW0458"};
  std::vector<offered> const combinations = all_combinations();
  for (std::size_t i = 0; i < combinations.size(); i += 31) {
    std::mt19937_64 random(i);
    offered_gemm const gemm(combinations[i], random);
    if (auto const r = accept(gemm.problem)) {
      EXPECT_TRUE(known.contains(r->code)) << combinations[i].text() << ": " << r->code;
    }
  }
}

}  // namespace
