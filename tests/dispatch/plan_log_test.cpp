// SPDX-License-Identifier: Apache-2.0
// plan_log_test.cpp  The log has each problem's plan and hints once, and nothing by default.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/log.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

/// The log as these variables make it, in a file; off again at the end.
class PlanLog : public testing::Test {
 protected:
  PlanLog() : path_(testing::TempDir() + "plan_log_" + std::to_string(::getpid()) + ".") {}
  ~PlanLog() override {
    for (char const* name : {"TW_LOG_LEVEL", "TW_LOG_FILE", "TW_LOG_SUBSYS", "TW_PRINT_CONFIG"})
      ::unsetenv(name);
    start_logging("off");
    std::remove((path_ + std::to_string(::getpid())).c_str());
  }
  void start(char const* name, char const* value) {
    ::setenv(name, value, 1);
    ::setenv("TW_LOG_FILE", (path_ + "%p").c_str(), 1);
    start_logging("off");
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path_ + std::to_string(::getpid())).rdbuf();
    return all.str();
  }
  int count(std::string const& what) const {
    std::string const all = text();
    int n = 0;
    for (std::size_t at = all.find(what); at != std::string::npos; at = all.find(what, at + 1)) ++n;
    return n;
  }

 private:
  std::string path_;
};

TEST_F(PlanLog, LogsEachProblemOnce) {
  start("TW_LOG_LEVEL", "info");
  forget_plans();
  for (int i = 0; i < 3; ++i) {
    cached_plan(tn(1111, 1024, 512), with_workspace(), h200(), 0);
    plan_gemm(tn(1111, 1024, 512), with_workspace(), h200());
    forget_plans();
  }
  plan_gemm(tn(1111, 1024, 528), with_workspace(), h200());
  EXPECT_EQ(count("plan: 1111x1024x512 bf16 to bf16 TN: sm90_bf16_bf16_tn"), 1) << text();
  EXPECT_EQ(count("plan: 1111x1024x528"), 1) << text();
  EXPECT_EQ(count("cluster tiles of"), 2) << "why";
  EXPECT_EQ(count("performance"), 0) << text();
}

TEST_F(PlanLog, HintsSayWhatIsSlow) {
  start("TW_LOG_LEVEL", "info");
  plan_gemm(tn(1113, 1021, 511), with_workspace(), h200());
  EXPECT_EQ(count("performance: A: leading dimension of 1022 bytes"), 1) << text();
  EXPECT_EQ(count("performance: D: leading dimension of 2042 bytes"), 1) << text();
  plan_gemm(tn(600, 600, 30000), with_workspace(0), h200());
  EXPECT_EQ(count("performance: a workspace of"), 1) << text();
  plan_gemm(tn(600, 600, 30008), with_workspace(), h200());
  EXPECT_EQ(count("performance: a workspace of"), 1) << "enough was given: " << text();
}

TEST_F(PlanLog, OnlyTheRequestedSubsystems) {
  ::setenv("TW_LOG_LEVEL", "info", 1);
  start("TW_LOG_SUBSYS", "tune");
  plan_gemm(tn(1114, 1024, 512), with_workspace(), h200());
  EXPECT_EQ(text(), "");
}

TEST_F(PlanLog, PlansAloneWithPrintConfig) {
  start("TW_PRINT_CONFIG", "1");
  plan_gemm(tn(1115, 1021, 511), with_workspace(), h200());
  EXPECT_EQ(count("plan: 1115x1021x511"), 1) << text();
  EXPECT_EQ(count("performance"), 0) << text();
}

TEST_F(PlanLog, SilentByDefault) {
  start("TW_LOG_LEVEL", "");
  plan_gemm(tn(1116, 1021, 511), with_workspace(), h200());
  EXPECT_EQ(text(), "");
}

TEST_F(PlanLog, WrongVariablesAreRefused) {
  for (auto const& [name, value] : {std::pair{"TW_LOG_LEVEL", "loud"},
                                    {"TW_LOG_SUBSYS", "plan,weather"},
                                    {"TW_LOG_FILE", "/dev/null/log"},
                                    {"TW_LOG_FILE", "/tmp/no-such-folder/log"}}) {
    ::setenv(name, value, 1);
    try {
      start_logging("off");
      ADD_FAILURE() << name << " accepted";
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0614");
      EXPECT_NE(r.why().what.find(name), std::string::npos);
    }
    ::unsetenv(name);
  }
  EXPECT_FALSE(std::filesystem::exists("/tmp/no-such-folder"));
}

}  // namespace
}  // namespace tw::test
