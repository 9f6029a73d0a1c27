// SPDX-License-Identifier: Apache-2.0
// check_command_lines_test.cpp  The checklist: every diagnosis of the emulator fails one line, and
//                               a line without an occasion does not pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tilewright/base/check.hpp"
#include "tools/check/hazards/checklist.hpp"
#include "tools/check/hazards/request.hpp"
#include "tools/check/hazards/results.hpp"
#include "tools/report/error_pages.hpp"

namespace tw::hazards {
namespace {

std::map<std::string, checklist_line> by_name(kernel_result const& r) {
  std::map<std::string, checklist_line> lines;
  for (checklist_line const& l : checklist_of(r)) lines[l.name] = l;
  return lines;
}

kernel_result with_finding(std::string code) {
  kernel_result r;
  r.runs = r.bad_runs = 1;
  r.add({std::move(code), "kind", "what happened", 1, 0, {{64}, 0, 1}, {}});
  return r;
}

TEST(Checklist, EveryDiagnosisFailsExactlyOneLine) {
  int codes = 0;
  for (error_page const& page : error_pages()) {
    if (page.code.front() != 'E') continue;
    ++codes;
    int failed = 0;
    for (checklist_line const& l : checklist_of(with_finding(std::string(page.code))))
      if (l.state == line_state::failed) {
        ++failed;
        EXPECT_EQ(l.name, line_of(page.code));
        EXPECT_NE(l.detail.find(page.code), std::string::npos);
      }
    EXPECT_EQ(failed, 1) << page.code;
    EXPECT_NE(line_of(page.code), "other rules") << page.code;
  }
  EXPECT_GE(codes, 39);
}

TEST(Checklist, NamesTheLineOfEachCommonMistake) {
  EXPECT_EQ(line_of("E0015"), "expect_tx bytes");
  EXPECT_EQ(line_of("E0025"), "fence placement");
  EXPECT_EQ(line_of("E0034"), "phase flips");
  EXPECT_EQ(line_of("E0037"), "swizzle and major-ness of MMA operands");
  EXPECT_EQ(line_of("E0039"), "TMA coordinates");
  EXPECT_EQ(line_of("E0041"), "epilogue layout");
  EXPECT_EQ(line_of("E0042"), "global memory");
  EXPECT_EQ(line_of("E0036"), "cluster barriers");
  EXPECT_EQ(line_of("E0017"), "shared-memory size");
  EXPECT_EQ(line_of(""), "epilogue layout") << "wrong elements without a diagnosis";
}

TEST(Checklist, AKernelWithoutAnOccasionPassesNothing) {
  kernel_result r;
  r.runs = 1;
  auto const lines = by_name(r);
  for (char const* name :
       {"shared-memory size", "expect_tx bytes", "TMA coordinates", "fence placement",
        "phase flips", "swizzle and major-ness of MMA operands", "cluster barriers",
        "order of accesses", "global memory", "accumulators", "tensor memory",
        "TMA stores at exit"})
    EXPECT_EQ(lines.at(name).state, line_state::not_applicable) << name;
}

TEST(Checklist, OperationsMakeALineApply) {
  kernel_result r;
  r.runs = 1;
  r.counts.mbarrier_waits = r.counts.phases = 3;
  r.counts.mbarriers = 1;
  r.counts.cluster = 2;
  auto const lines = by_name(r);
  EXPECT_EQ(lines.at("phase flips").state, line_state::passed);
  EXPECT_EQ(lines.at("phase flips").detail, "3 waits, 3 phases");
  EXPECT_EQ(lines.at("cluster barriers").state, line_state::passed);
  EXPECT_EQ(lines.at("TMA coordinates").state, line_state::not_applicable);
}

/// A plugin that was compiled without -fsanitize=thread has accesses that no check sees: the line
/// says so, and does not say that the kernel has no accesses.
TEST(Checklist, AccessesThatAreNotSeenAreNotMissing) {
  kernel_result r;
  r.runs = 1;
  r.counts.plain_accesses_seen = false;
  checklist_line const unseen = by_name(r).at("order of accesses");
  EXPECT_EQ(unseen.state, line_state::not_applicable);
  EXPECT_NE(unseen.detail.find("were not seen (compile with tilewright_add_kernel"),
            std::string::npos)
      << unseen.detail;
  r.counts.plain_accesses_seen = true;
  EXPECT_EQ(by_name(r).at("order of accesses").detail, "no accesses of shared memory");
}

TEST(Checklist, TheTextSaysThatAccessesWereNotSeen) {
  kernel_result r;
  r.name = "any";
  r.runs = 1;
  std::string const line = "ordinary loads and stores of the kernel were not seen";
  for (bool const seen : {false, true}) {
    r.counts.plain_accesses_seen = seen;
    std::string const text = text_of_kernels({&r, 1}, request{});
    EXPECT_EQ(text.find(line) == std::string::npos, seen) << text;
  }
}

TEST(Checklist, ShapesOfAPluginMayBeZero) {
  EXPECT_EQ(parse_shape("0,3", 2, "M,N", 0), (shape{0, 3}));
  EXPECT_THROW(parse_shape("0,3", 2, "M,N"), rejected);
}

TEST(Checklist, ARunThatComparedNothingHasNoResultToPass) {
  kernel_result r = with_finding("E0024");
  auto line = by_name(r).at("epilogue layout");
  EXPECT_EQ(line.state, line_state::not_applicable);
  EXPECT_EQ(line.detail, "a run with findings has no result");
  r.elements = 8;
  EXPECT_EQ(by_name(r).at("epilogue layout").state, line_state::passed);
}

TEST(Checklist, OnTheGpuOnlyTheResultIsJudged) {
  kernel_result r;
  r.runs = 1;
  r.on_gpu = true;
  r.elements = 1;
  for (checklist_line const& l : checklist_of(r))
    EXPECT_EQ(l.state,
              l.name == "epilogue layout" ? line_state::passed : line_state::not_applicable);
}

TEST(Checklist, TheSameHazardInManyRunsIsOneFinding) {
  kernel_result r = with_finding("E0024");
  r.add({"E0024", "kind", "what happened", 2, 0, {{64}, 1, 2}, {}});
  r.add({"E0024", "kind", "something else", 1, 0, {{64}, 1, 2}, {}});
  ASSERT_EQ(r.findings.size(), 2U);
  EXPECT_EQ(r.findings[0].count, 3);
  EXPECT_EQ(r.findings[0].runs, 2);
  EXPECT_EQ(r.findings[0].first.seed, 1U);
}

TEST(Checklist, TextPutsTheDiagnosisBelowItsLine) {
  std::string const text = text_of(checklist_of(with_finding("E0025")));
  EXPECT_NE(text.find("  failed         fence placement\n    E0025 kind\n      what happened\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace tw::hazards
