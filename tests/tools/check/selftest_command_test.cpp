// SPDX-License-Identifier: Apache-2.0
// selftest_command_test.cpp  The report has each kernel and each probe, and says what failed.
#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

TEST(SelftestCommand, TheReportHasKernelsAndProbes) {
  scratch const folder;
  std::string const file = folder / "report.json";
  auto const r = run_command({"selftest", "--device", "emu", "--only", "sm100_", "-o", file});
  ASSERT_EQ(r.status, 0) << r.out << r.err;
  auto const report = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(report["schema"], "tilewright.selftest/1");
  EXPECT_EQ(report["device"], "emulator");
  EXPECT_TRUE(report["passed"].get<bool>());
  EXPECT_GE(report["kernels"].size(), 8U);
  int staged = 0;
  for (auto const& k : report["kernels"]) {
    staged += k["name"].get<std::string>().ends_with(", D quantised by a second launch");
    EXPECT_TRUE(k["passed"].get<bool>()) << k;
    EXPECT_GT(k["compared"].get<int>(), 0) << k;
  }
  EXPECT_EQ(staged, 2) << "one for each family for Blackwell";
  EXPECT_EQ(report["probes"].size(), 0U);
  auto const probes = run_command({"selftest", "--only", "::", "--json", "-o", file}).json();
  EXPECT_GE(probes["probes"].size(), 5U);
  EXPECT_EQ(probes["kernels"].size(), 0U);
}

TEST(SelftestCommand, ProbesOfTensorMemoryAndConversionsPass) {
  scratch const folder;
  for (auto const& [name, count] : {std::pair{"tcgen05.ld", 6},
                                    {"tcgen05.cp", 8},
                                    {"tcgen05.mma.kind::f8f6f4", 7},
                                    {"A in tensor memory", 2},
                                    {"tcgen05.mma.kind::mx", 5},
                                    {"cta_group::2", 1},
                                    {"tcgen05.commit.multicast", 1},
                                    {"cvt.", 4}}) {
    auto const r =
        run_command({"selftest", "--device", "emu", "--only", name, "--json", "-o", folder / "x"});
    EXPECT_EQ(r.status, 0) << r.out << r.err;
    EXPECT_EQ(r.json()["probes"].size(), static_cast<std::size_t>(count)) << name;
  }
}

/// D of such a kernel is column-major, and its scales belong to rows.
TEST(SelftestCommand, AKernelOfTheTransposedProblemRuns) {
  scratch const folder;
  auto const r = run_command({"selftest", "--device", "emu", "--only",
                              "tn_dm_128x16x128_1x1_s11_quantize", "--json", "-o", folder / "x"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_GT(r.json()["kernels"].size(), 0U);
}

TEST(SelftestCommand, NoGpuIsStatus77) {
  scratch const folder;
  auto const r = run_command({"selftest", "--device", "gpu", "--only", "none", "-o", folder / "x"});
  if (r.status == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(r.status, 77);
  EXPECT_NE(r.err.find("GPU"), std::string::npos) << r.err;
}

}  // namespace
