// SPDX-License-Identifier: Apache-2.0
// mutants_test.cpp  Each planted bug is named, in every kind of schedule; correct kernels are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/effort.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace tw::mutants {
namespace {

std::string name_of(mutant const& m) {
  std::string name = std::string(m.kernel) + "_" + std::string(m.name.empty() ? "correct" : m.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace

/// GoogleTest prints parameters with this.
static void PrintTo(mutant const& m, std::ostream* out) { *out << name_of(m); }

namespace {

class Mutants : public testing::TestWithParam<mutant> {};

TEST_P(Mutants, IsNamed) {
  mutant const& m = GetParam();

  verdict const v = judge(m, test::full_effort() ? 2 : 1);
  if (m.name.empty()) {
    EXPECT_TRUE(v.seen.empty()) << v.example.text;
    EXPECT_EQ(v.wrong_results, 0);
  } else if (plain_accesses_are_seen() || m.kernel == "reference_gemm") {
    EXPECT_EQ(v.caught, v.runs) << v.example.code << " " << v.example.text;
    std::istringstream printed(emu::to_text(v.example));
    int lines = 0;
    for (std::string line; std::getline(printed, line); ++lines)
      EXPECT_LE(line.size(), 100U) << line;
    EXPECT_LE(lines, 12) << emu::to_text(v.example);
  }
}

/// Each hazard that a small change can cause has a mutant that must be named by it.
TEST(Mutants, ReachEveryHazard) {
  std::vector<std::string> reached;
  for (mutant const& m : all_mutants())
    for (std::string_view const code : m.codes) reached.emplace_back(code);
  for (char const* code :
       {"E0001", "E0003", "E0008", "E0011", "E0015", "E0024", "E0025", "E0026", "E0027", "E0028",
        "E0029", "E0030", "E0031", "E0033", "E0034", "E0035", "E0036", "E0037", "E0039", "E0041",
        "E0042", "E0043", "E0044", "E0045", "E0046", "E0047", "E0048", "E0049", "E0050", "E0051",
        "E0052", "E0053", "E0054", "E0061", "E0100", "E0101", "E0102", "E0103", "E0104", "E0105",
        "E0106", "E0107", "E0108", "E0109", "E0110", "E0111", "E0112", "E0113", "E0114", "E0115",
        "E0116", "E0120", "E0121", "E0130", "E0131", "E0132", "E0133"})
    EXPECT_NE(std::ranges::find(reached, code), reached.end()) << code;
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(all_mutants()),
                         [](auto const& i) { return name_of(i.param); });

}  // namespace
}  // namespace tw::mutants
