// SPDX-License-Identifier: Apache-2.0
// profile_command_test.cpp  tilewright profile: CSV of ncu, verdicts, a run with a program that
//                           stands for ncu, and no ncu at all.
#include <sys/stat.h>

#include "tests/tools/command.hpp"
#include "tools/command/profile/metrics.hpp"
#include "tools/command/profile/ncu_csv.hpp"
#include "tools/command/profile/run_ncu.hpp"

namespace {

using namespace tw_test;

std::string const data = TW_SOURCE_DIR "/tests/tools/data/ncu/";

nlohmann::json profiled(std::string const& file) {
  auto const r = run_command({"profile", "--from", file, "--json"});
  EXPECT_EQ(r.status, 0) << r.err;
  return r.json()["launches"];
}
nlohmann::json figure(nlohmann::json const& launch, std::string const& title) {
  for (auto const& f : launch["figures"])
    if (f["title"] == title) return f;
  return {};
}

TEST(ProfileCommand, ReadsTheRawPage) {
  auto const launches = profiled(data + "raw.csv");
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0]["grid"], "(132, 1, 1)");
  EXPECT_EQ(figure(launches[0], "time")["value"], 198.75);
  EXPECT_EQ(figure(launches[0], "loaded by TMA")["value"], 1.61e9);
  EXPECT_EQ(figure(launches[0], "wgmma instructions")["value"], 4194304.0);
  EXPECT_EQ(figure(launches[0], "tensor cores")["verdict"], "good");
  EXPECT_EQ(figure(launches[0], "bank conflicts")["verdict"], "good");
  EXPECT_EQ(launches[0]["limit"], "tensor cores");
  EXPECT_EQ(launches[1]["kernel"], "copy(float *, const float *, \"quoted\")");
  EXPECT_EQ(figure(launches[1], "DRAM")["verdict"], "limits");
  EXPECT_EQ(figure(launches[1], "SMs with work")["verdict"], "low");
  EXPECT_EQ(figure(launches[1], "bank conflicts")["verdict"], "low");
  EXPECT_TRUE(figure(launches[1], "occupancy").is_null());  // n/a
  EXPECT_EQ(launches[1]["limit"], "DRAM");
  EXPECT_FALSE(launches[0]["others"].contains("device__attribute_chip"));  // of no kernel
}

TEST(ProfileCommand, ReadsTheDetailsPageAndFormerNames) {
  auto const launches = profiled(data + "details.csv");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(figure(launches[0], "time")["value"], 14.5);
  EXPECT_EQ(figure(launches[0], "tensor cores")["value"], 33.25);
  EXPECT_EQ(figure(launches[0], "tensor cores")["verdict"], "low");
  EXPECT_DOUBLE_EQ(launches[0]["others"]["dram__bytes.sum"], 134.2e6);
  EXPECT_EQ(launches[0]["limit"], "waiting");
}

TEST(ProfileCommand, SaysWhatToDo) {
  auto const r = run_command({"profile", "--from", data + "raw.csv"});
  for (char const* const word :
       {"tensor cores                86.3 %  good", "limit: the tensor cores are near their peak",
        "DRAM                        84.1 %  limits", "to do: memory-bound: larger tiles",
        "to do: look at the swizzle", "loaded by TMA               1.6 GB"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word << " in\n" << r.out;
}

TEST(ProfileCommand, AKernelWithoutTensorInstructionsHasNothingToDoForThem) {
  scratch const folder;
  std::string csv = read_file(data + "raw.csv");
  for (auto const& [from, to] : {std::pair{"\"4,194,304\",\"86.3\"", "\"0\",\"0.0\""}}) {
    std::size_t const at = csv.find(from);
    ASSERT_NE(at, std::string::npos);
    csv.replace(at, std::string(from).size(), to);
  }
  write_file(folder / "copy.csv", csv);
  auto const launches = profiled(folder / "copy.csv");
  for (char const* const title : {"tensor cores", "wgmma instructions"}) {
    EXPECT_EQ(figure(launches[0], title)["value"], 0);
    EXPECT_TRUE(figure(launches[0], title)["verdict"].is_null());
    EXPECT_TRUE(figure(launches[0], title)["to_do"].is_null());
  }
  std::string const text = run_command({"profile", "--from", folder / "copy.csv"}).out;
  EXPECT_NE(text.find("no tensor instructions in this kernel"), std::string::npos) << text;
}

TEST(ProfileCommand, EachThresholdJudges) {
  using namespace tw::profile;
  using verdict = tw::profile::verdict;  // there is a tw::verdict
  for (metric const& m : metrics()) {
    EXPECT_EQ(find_metric(m.name), &m);
    double const up = std::max(m.good, m.low) + 1, down = std::min(m.good, m.low) - 1;
    switch (m.wants) {
      case wish::more:
        EXPECT_EQ(judge(m, up), verdict::good) << m.name;
        EXPECT_EQ(judge(m, down), verdict::low) << m.name;
        break;
      case wish::less:
        EXPECT_EQ(judge(m, m.good), verdict::good) << m.name;
        EXPECT_EQ(judge(m, up), verdict::low) << m.name;
        break;
      case wish::limit:
        EXPECT_EQ(judge(m, down), verdict::good) << m.name;
        EXPECT_EQ(judge(m, (m.good + m.low) / 2), verdict::fair) << m.name;
        EXPECT_EQ(judge(m, up), verdict::limits) << m.name;
        break;
      default: EXPECT_EQ(judge(m, 1), verdict::shown);
    }
    EXPECT_EQ(m.when_low.empty(), m.wants == wish::none) << m.name;
  }
}

TEST(ProfileCommand, FieldsOfCsv) {
  using rows = std::vector<std::vector<std::string>>;
  EXPECT_EQ(tw::profile::csv_rows("\"a\",\"b,\"\"c\"\"\"\r\n1,\n\n\"x\ny\",z"),
            (rows{{"a", "b,\"c\""}, {"1", ""}, {"x\ny", "z"}}));
}

TEST(ProfileCommand, WithoutNcuTheLineIsPrintedAndTheStatusIs77) {
  scratch const folder;
  auto const r = run_command(
      {"profile", "--launches", "2", "--kernel-name", "gemm.*", "--", "./own", "--size", "4 096"},
      {"PATH=" + (folder / "none")});
  EXPECT_EQ(r.status, 77);
  EXPECT_EQ(r.out.rfind("ncu --csv --page raw", 0), 0U) << r.out;
  EXPECT_NE(r.out.find(" --kernel-name 'regex:gemm.*' --launch-count 2 ./own --size '4 096'\n"),
            std::string::npos)
      << r.out;
  EXPECT_NE(r.err.find("--from FILE.csv"), std::string::npos) << r.err;
  auto const json = run_command({"profile", "--json", "--", "true"}, {"PATH=" + (folder / "none")});
  EXPECT_EQ(json.status, 77);
  EXPECT_EQ(json.json()["ncu"], false);
}

/// A script named ncu on PATH that writes `csv` to the file after --log-file.
void write_ncu(scratch const& folder, std::string const& body) {
  std::string const path = folder / "ncu";
  write_file(path,
             "#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  [ \"$1\" = --log-file ] && log=$2\n"
             "  last=$1\n  shift\ndone\n" +
                 body);
  ::chmod(path.c_str(), 0700);
}

TEST(ProfileCommand, RunsNcuAndReadsItsCsv) {
  scratch const folder;
  write_ncu(folder, "echo \"output of $last\"\ncat '" + data + "raw.csv' > \"$log\"\n");
  std::string const path = "PATH=" + (folder / "") + ":/usr/bin:/bin";
  auto const r = run_command({"profile", "--", "command", "argument"}, {path});
  EXPECT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("output of argument"), std::string::npos);
  EXPECT_NE(r.out.find("tensor cores                86.3 %"), std::string::npos) << r.out;
  write_ncu(folder, "echo '==ERROR== ERR_NVGPUCTRPERM' > \"$log\"\nexit 1\n");
  auto const denied = run_command({"profile", "--", "command"}, {path});
  EXPECT_EQ(denied.status, 2);
  EXPECT_NE(denied.err.find("NVreg_RestrictProfilingToAdminUsers"), std::string::npos)
      << denied.err;
}

TEST(ProfileCommand, Refusals) {
  scratch const folder;
  auto const code = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"profile", "--json"});
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2) << r.out;
    return r.json()["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({}), "TW0654");
  EXPECT_EQ(code({"--from", data + "raw.csv", "--", "true"}), "TW0654");
  EXPECT_EQ(code({"--from", folder / "absent.csv"}), "TW0601");
  write_file(folder / "other.csv", "a,b\n1,2\n");
  EXPECT_EQ(code({"--from", folder / "other.csv"}), "TW0655");
  write_file(folder / "empty.csv", "\"ID\",\"Kernel Name\"\n");
  EXPECT_EQ(code({"--from", folder / "empty.csv"}), "TW0655");
}

}  // namespace
