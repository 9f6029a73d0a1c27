// SPDX-License-Identifier: Apache-2.0
// mutants_test.cpp  Each planted bug is named, in every kind of schedule; correct kernels are not.
#include <gtest/gtest.h>

#include <algorithm>

#include "tools/mutants/mutants.hpp"

namespace tw::mutants {
namespace {

std::string name_of(mutant const& m) {
  std::string name = std::string(m.kernel) + "_" + std::string(m.name.empty() ? "correct" : m.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

class Mutants : public testing::TestWithParam<mutant> {};

TEST_P(Mutants, IsNamed) {
  mutant const& m = GetParam();

  verdict const v = judge(m, 2);
  if (m.name.empty()) {
    EXPECT_TRUE(v.seen.empty()) << v.example.text;
    EXPECT_EQ(v.wrong_results, 0);
  } else if (plain_accesses_are_seen() || m.kernel == "reference_gemm") {
    EXPECT_EQ(v.caught, v.runs) << v.example.code << " " << v.example.text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(all_mutants()),
                         [](auto const& i) { return name_of(i.param); });

}  // namespace
}  // namespace tw::mutants
