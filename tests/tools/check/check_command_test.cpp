// SPDX-License-Identifier: Apache-2.0
// check_command_test.cpp  tilewright check: mutants, the shipped kernels, plugins; JSON, statuses,
//                         refusals.
#include <set>

#include "tests/tools/command.hpp"
#include "tilewright/family/kernel_set.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace {

using namespace tw_test;

// tests/mutant has all mutants.
TEST(CheckCommand, EveryMutantOfAKernelIsCaughtAndTheCorrectOneNotReported) {
  if (!tw::mutants::plain_accesses_are_seen()) GTEST_SKIP() << "built without interception";
  auto const r =
      run_command({"check", "--mutants", "--kernel", "reference_gemm", "--seeds", "1", "--json"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  auto const j = r.json();
  ASSERT_EQ(j.size(), 3U);  // and the schema
  EXPECT_EQ(j["false_reports"], 0);
  std::size_t planted = 0;
  for (auto const& m : tw::mutants::all_mutants())
    planted += m.kernel == "reference_gemm" && !m.name.empty() ? 1 : 0;
  ASSERT_EQ(j["mutants"].size(), planted);
  std::set<std::string> names;
  for (auto const& m : j["mutants"]) {
    EXPECT_EQ(m.size(), 4U);
    EXPECT_EQ(m["runs"], 4) << "one seed, four kinds of schedule";
    EXPECT_EQ(m["caught"], m["runs"]) << m["name"];
    std::string const code = m["code"];  // of a diagnosis, or only the result is wrong
    EXPECT_TRUE(code.front() == 'E' || code == "wrong-result") << code;
    names.insert(m["name"].get<std::string>());
  }
  EXPECT_EQ(names.size(), planted);
  EXPECT_TRUE(names.contains("reference_gemm/no-proxy-fence"));
}

TEST(CheckCommand, MutantsCanBeChosenAndShown) {
  std::vector<std::string> words{"check",   "--mutants", "--kernel",   "reference_gemm/no-proxy",
                                 "--seeds", "2",         "--schedule", "lazy",
                                 "--quiet", "--examples"};
  auto const r = run_command(words);
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("reference_gemm/no-proxy-fence: no fence_proxy_async before the TMA store\n"
                       "E0025 missing-proxy-fence\n  A TMA store reads d["),
            std::string::npos)
      << r.out;
  words.push_back("--json");
  auto const j = run_command(words).json();
  ASSERT_EQ(j["mutants"].size(), 1U);
  EXPECT_EQ(j["mutants"][0]["runs"], 2);
  EXPECT_EQ(j["mutants"][0]["expects"], nlohmann::json({"E0025"}));
  EXPECT_EQ(run_command({"check", "--mutants", "--kernel", "no_such"}).status, 2);
}

TEST(CheckCommand, ShippedKernelsAreClean) {
  auto const r = run_command({"check", "gemm", "--runs", "1", "--json"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  auto const j = r.json();
  EXPECT_EQ(j["false_reports"], 0);
  EXPECT_EQ(j["runs"], tw::kernels_of_this_build().built);
  int staged = 0;
  for (auto const& k : j["kernels"]) staged += k["runs_of_two_launches"].get<int>();
  EXPECT_GE(staged, 4) << "plans whose second launch quantises D";
  std::set<std::string> names;
  for (auto const& k : j["kernels"]) {
    names.insert(k["name"].get<std::string>());
    EXPECT_EQ(k["runs"], 1);
    EXPECT_GT(k["elements"], 0);
    EXPECT_EQ(k["findings"].size(), 0U);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(tw::kernels_of_this_build().built));
}

TEST(CheckCommand, ChecklistSaysWhatWasTested) {
  auto const r = run_command({"check", "gemm", "--kernel", "bf16_f32_tn_128x128x64_1x1_s6_gate",
                              "--shape", "200,100,150", "--shape", "64,64,64", "--runs", "4"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("sm90_bf16_f32_tn_128x128x64_1x1_s6_gate: 4 runs"), std::string::npos)
      << r.out;
  for (char const* line :
       {"shared-memory size", "expect_tx bytes", "TMA coordinates", "fence placement",
        "phase flips", "swizzle and major-ness of MMA operands", "epilogue layout"})
    EXPECT_NE(r.out.find(std::string("  passed         ") + line), std::string::npos) << line;
  EXPECT_NE(r.out.find("  not applicable cluster barriers                        no clusters"),
            std::string::npos)
      << r.out;
}

TEST(CheckCommand, AKernelInClustersHasClusterBarriers) {
  auto const r = run_command(
      {"check", "gemm", "--kernel", "bf16_bf16_tn_128x256x64_2x1", "--runs", "1", "--json"});
  EXPECT_EQ(r.status, 0) << r.err;
  auto const j = r.json();
  ASSERT_GE(j["kernels"].size(), 1U);
  for (auto const& l : j["kernels"][0]["checklist"]) {
    if (l["line"] == "cluster barriers") {
      EXPECT_EQ(l["state"], "passed");
      return;
    }
  }
  FAIL() << "no line on clusters";
}

TEST(CheckCommand, TheSameSeedsGiveTheSameRuns) {
  std::vector<std::string> const words{"check",  "gemm", "--kernel",     "f16_f16_nn_128x64",
                                       "--runs", "4",    "--first-seed", "77",
                                       "--json"};
  EXPECT_EQ(run_command(words).out, run_command(words).out);
}

TEST(CheckCommand, Refuses) {
  auto const refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), "check");
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2) << r.err;
    EXPECT_EQ(r.out, "");
    return r.err.substr(0, r.err.find(':', 12));
  };
  scratch const folder;
  write_file(folder / "text.so", "not a library");
  EXPECT_EQ(refusal({}), "tilewright: TW0630");
  EXPECT_EQ(refusal({"gemm", "--bug", "x"}), "tilewright: TW0630");
  EXPECT_EQ(refusal({"gemm", "--mutants"}), "tilewright: TW0630");
  EXPECT_EQ(refusal({folder / "text.so"}), "tilewright: TW0631");
  EXPECT_EQ(refusal({"libm.so.6"}), "tilewright: TW0631") << "not looked for in the system";
  EXPECT_EQ(refusal({"gemm", "--kernel", "no_such"}), "tilewright: TW0634");
  EXPECT_EQ(refusal({"gemm", "--shape", "64x64x64"}), "tilewright: TW0635");
  EXPECT_EQ(refusal({"gemm", "--shape", "64,64"}), "tilewright: TW0635");
  EXPECT_EQ(refusal({"gemm", "--shape", "64,64,0"}), "tilewright: TW0635");
  EXPECT_EQ(refusal({"gemm", "--schedule", "slow"}), "tilewright: TW0636");
  auto const j = run_command({"check", "--json"});
  EXPECT_EQ(j.json()["error"]["code"], "TW0630");
}

}  // namespace
