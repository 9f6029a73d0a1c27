// SPDX-License-Identifier: Apache-2.0
// ladder_command_test.cpp  tilewright ladder: its record, planted bugs, refusals, statuses.
#include <map>
#include <set>

#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

TEST(LadderCommand, AllRungsAreCorrectInTheEmulator) {
  auto const r = run_command({"ladder", "--device", "emu", "--size", "256", "--json"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  auto const j = r.json();
  EXPECT_EQ(j["schema"], "tilewright.ladder/1");
  ASSERT_EQ(j["rungs"].size(), 15U);
  for (std::size_t i = 0; i < 15; ++i) {
    auto const& rung = j["rungs"][i];
    EXPECT_EQ(rung["rung"], i + 1);
    EXPECT_EQ(rung["correct"], true) << rung;
    EXPECT_EQ(rung["wrong_elements"], 0) << rung;
    EXPECT_TRUE(rung["diagnoses"].empty()) << rung;
  }
  EXPECT_EQ(j["rungs"][0]["name"], "01_naive");
  EXPECT_EQ(j["rungs"][10]["name"], "11_hilbert");
  EXPECT_EQ(j["rungs"][14]["name"], "15_nvfp4");
  for (std::size_t i = 12; i < 15; ++i) {
    EXPECT_EQ(j["rungs"][i]["wgmmas"], 0);
    EXPECT_GT(j["rungs"][i]["tcgen05_mmas"], 0);
  }
}

TEST(LadderCommand, ATableShowsOneRung) {
  auto const r = run_command({"ladder", "--device", "emu", "--rung", "8", "--size", "264"});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("08_clusters"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("correct"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("07_mbarriers"), std::string::npos) << r.out;
}

TEST(LadderCommand, SchedulesOfOneFaultGiveSeveralReports) {
  auto const r = run_command({"ladder", "--bug", "warps-apart", "--seeds", "4", "--json"});
  EXPECT_EQ(r.status, 1) << r.err;
  auto const rung = r.json()["rungs"][0];
  EXPECT_EQ(rung["bad_runs"], 4);
  std::map<std::string, int> runs;
  for (auto const& d : rung["diagnoses"]) runs[d["code"].get<std::string>()] = d["runs"].get<int>();
  for (char const* code : {"E0035", "E0027"}) {
    EXPECT_GE(runs[code], 1) << code;
    EXPECT_LT(runs[code], 4) << code;
  }
}

TEST(LadderCommand, ExperimentsBesideARung) {
  std::vector<std::string> words{"ladder", "--device", "emu", "--side", "--rung", "10", "--size"};
  words.emplace_back("256");
  std::string const text = run_command(words).out;
  words.emplace_back("--json");
  auto const r = run_command(words);
  EXPECT_EQ(r.status, 0) << r.err;
  auto const j = r.json();
  ASSERT_EQ(j["rungs"].size(), 1U);
  EXPECT_EQ(j["rungs"][0]["idea"], "D without a swizzle");
  EXPECT_EQ(j["rungs"][0]["wavefronts"], 8 * j["rungs"][0]["ideal_wavefronts"].get<int>());
  EXPECT_NE(text.find("are bank conflicts"), std::string::npos) << text;
  EXPECT_NE(run_command({"ladder", "--device", "emu", "--side", "--rung", "4"}).err.find("TW0634"),
            std::string::npos);
  EXPECT_EQ(run_command({"ladder", "--side", "--bug", "never-free"}).status, 2);
  EXPECT_NE(
      run_command({"ladder", "--side", "--rung", "3", "--timeline", "x.svg"}).err.find("TW0681"),
      std::string::npos);
}

TEST(LadderCommand, ABugIsDiagnosed) {
  auto const r = run_command({"ladder", "--bug", "never-free", "--json"});
  EXPECT_EQ(r.status, 1) << r.err;
  auto const j = r.json();
  ASSERT_EQ(j["rungs"].size(), 1U);
  EXPECT_EQ(j["rungs"][0]["name"], "04_warp_specialised");
  EXPECT_EQ(j["rungs"][0]["correct"], false);
  ASSERT_FALSE(j["rungs"][0]["diagnoses"].empty());
  EXPECT_EQ(j["rungs"][0]["diagnoses"][0]["code"], "E0001");
  std::string const text = run_command({"ladder", "--bug", "never-free"}).out;
  EXPECT_NE(text.find("E0001 deadlock"), std::string::npos) << text;
}

TEST(LadderCommand, BugsAreListed) {
  auto const r = run_command({"ladder", "--bug", "list", "--json"});
  EXPECT_EQ(r.status, 0);
  std::set<int> rungs;
  auto const j = r.json();
  for (auto const& bug : j["bugs"]) rungs.insert(bug["rung"].get<int>());
  EXPECT_EQ(rungs.size(), 11U);
  EXPECT_NE(run_command({"ladder", "--bug", "list"}).out.find("no-proxy-fence"), std::string::npos);
}

TEST(LadderCommand, AChartIsDrawn) {
  scratch const folder;
  std::string const file = folder / "bytes.svg";
  std::vector<std::string> words{"ladder", "--device", "emu", "--rung", "8", "--size", "256"};
  words.insert(words.end(), {"--plot", file});
  EXPECT_EQ(run_command(words).status, 0);
  std::string const svg = read_file(file);
  EXPECT_NE(svg.find("<svg"), std::string::npos);
  EXPECT_NE(svg.find("08_clusters"), std::string::npos) << svg;
  words.back() = folder / "absent/bytes.svg";
  EXPECT_EQ(run_command(words).status, 2);
}

TEST(LadderCommand, TimesNeedAGpu) {
  auto const r =
      run_command({"ladder", "--device", "gpu", "--quick", "--size", "512", "--rung", "2"});
  EXPECT_TRUE(r.status == 0 || r.status == 77) << r.out << r.err;
  if (r.status == 77) {
    EXPECT_NE(r.err.find("TW05"), std::string::npos) << r.err;
  }
}

TEST(LadderCommand, RefusesWhatItCannotDo) {
  auto const size = run_command({"ladder", "--device", "emu", "--rung", "5", "--size", "384"});
  EXPECT_EQ(size.status, 2);
  EXPECT_NE(size.err.find("TW0680"), std::string::npos) << size.err;
  EXPECT_NE(size.err.find("N of 256"), std::string::npos) << size.err;
  auto const bug = run_command({"ladder", "--bug", "no-fense"});
  EXPECT_EQ(bug.status, 2);
  EXPECT_NE(bug.err.find("no-proxy-fence"), std::string::npos) << "the names that exist";
  EXPECT_EQ(run_command({"ladder", "--rung", "3", "--bug", "never-free"}).status, 2);
  auto const gpu = run_command({"ladder", "--bug", "never-free", "--device", "gpu"});
  EXPECT_EQ(gpu.status, 2);
  EXPECT_NE(gpu.err.find("TW0681"), std::string::npos) << gpu.err;
  EXPECT_EQ(run_command({"ladder", "--rung", "16"}).status, 2);
  for (auto const& words :
       std::vector<std::vector<std::string>>{{"ladder", "--rung", "13", "--device", "gpu"},
                                             {"ladder", "--rung", "12", "--timeline", "t.svg"}}) {
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2);
    EXPECT_NE(r.err.find("TW0681"), std::string::npos) << r.err;
  }
  EXPECT_NE(run_command({"ladder", "--rung", "15", "--size", "96"}).err.find("TW0680"),
            std::string::npos);
  EXPECT_EQ(run_command({"ladder", "--size", "1000000"}).status, 2);
}

}  // namespace
