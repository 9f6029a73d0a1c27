// SPDX-License-Identifier: Apache-2.0
// check_invariant_test.cpp  tilewright check gemm --invariant: rows have the same bits in parts,
//                           kernels of another order have no runs, and what it refuses.
#include <set>
#include <string>

#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

nlohmann::json checked(std::string const& kernel) {
  auto const r = run_command(
      {"check", "gemm", "--invariant", "--runs", "2", "--quiet", "--json", "--kernel", kernel});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  return r.json();
}

TEST(CheckInvariant, RowsHaveTheSameBitsInParts) {
  for (char const* const kernel :
       {"_scaled64", "128x256x128_1x1_s3_gate_quantize_p128", "dm_128x16x128_1x1_s11_quantize_p128",
        "s8_f32_tn_128x128x128_1x1_s6_ops"}) {
    auto const j = checked(kernel);
    EXPECT_EQ(j["false_reports"], 0) << j.dump(1);
    EXPECT_GE(j["runs"], 2) << kernel;
  }
}

/// They serve it on GPUs without wgmma.
TEST(CheckInvariant, KernelsOfMmaSyncAreCheckedOnAnAmpereGpu) {
  auto const r = run_command({"check", "gemm", "--invariant", "--runs", "1", "--quiet", "--json",
                              "--family", "sm80_gemm", "--kernel", "_64x64x64_"});
  ASSERT_EQ(r.status, 0) << r.out << r.err;
  std::set<std::string> names;
  auto const record = r.json();
  for (auto const& k : record["kernels"]) {
    names.insert(k["name"].get<std::string>());
    EXPECT_EQ(k["runs"], 1) << k;
  }
  EXPECT_EQ(names.count("sm80_bf16_bf16_tn_64x64x64_2x2_s3"), 1U);
  EXPECT_EQ(names.count("sm80_f16_f16_tn_64x64x64_2x2_s3_f16"), 0U);  // sums in f16
}

TEST(CheckInvariant, PlansOfTwoLaunchesHaveTheSameBitsToo) {
  auto const r = run_command({"check", "gemm", "--invariant", "--runs", "6", "--quiet", "--json",
                              "--kernel", "_bf16_f32_tn_128x128x64"});
  ASSERT_EQ(r.status, 0) << r.out << r.err;
  int staged = 0;
  auto const record = r.json();
  for (auto const& k : record["kernels"]) staged += k["runs_of_two_launches"].get<int>();
  EXPECT_GT(staged, 0);
}

TEST(CheckInvariant, KernelsOfAnotherOrderAreLeftOut) {
  auto const r = run_command({"check", "gemm", "--invariant", "--runs", "1", "--quiet", "--kernel",
                              "e4m3_bf16_tn_dm_64x64x128_1x1x8"});  // clusters share K
  EXPECT_EQ(r.status, 2) << r.out;
  EXPECT_NE(r.err.find("TW0634"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("serves reproducible GEMMs"), std::string::npos) << r.err;
}

TEST(CheckInvariant, RefusesShapesAndPlugins) {
  for (std::vector<std::string> const& words :
       {std::vector<std::string>{"check", "gemm", "--invariant", "--shape", "8,8,8"},
        {"check", "--mutants", "--invariant"},
        {"check", "plugin.so", "--invariant"}}) {
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2) << words[1];
    EXPECT_NE(r.err.find("TW0630"), std::string::npos) << r.err;
  }
}

}  // namespace
