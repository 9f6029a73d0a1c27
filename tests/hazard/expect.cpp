// SPDX-License-Identifier: Apache-2.0
// expect.cpp  The checks of a diagnosis. Compiled once: the tests' kernels are compiled so that the
// emulator sees ordinary accesses, which makes text and JSON slow to compile.
#include "tests/hazard/expect.hpp"

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

namespace tw::test {
namespace {

/// The line of the running test's paragraph that is marked so; 0: none is.
int marked_line(std::string const& mark) {
  std::vector<std::string> const lines = [] {
    std::string const path = testing::UnitTest::GetInstance()->current_test_info()->file();
    std::ifstream file(TW_SOURCE_DIR "/" + path.substr(path.rfind("tests/hazard/")));
    EXPECT_TRUE(file) << path;
    std::vector<std::string> all{""};
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }();
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  name = "Hazards, " + name.substr(0, name.find('/')) + ")";
  std::size_t at = 0;
  while (at < lines.size() && lines[at].find(name) == std::string::npos) ++at;
  std::size_t first = at;
  while (first > 1 && !lines[first - 1].empty()) --first;
  for (; first < lines.size() && !lines[first].empty(); ++first) {
    std::size_t const comment = lines[first].find("  // ");
    if (comment != std::string::npos && lines[first].find(mark, comment) != std::string::npos)
      return static_cast<int>(first);
  }
  return 0;
}

}  // namespace

void expect_readable(emu::report const& r) {
  for (emu::diagnosis const& d : r.diagnoses) {
    std::istringstream printed(to_text(d));
    int lines = 0;
    for (std::string line; std::getline(printed, line); ++lines)
      EXPECT_LE(line.size(), 100U) << line;
    EXPECT_LE(lines, 12) << to_text(d);
  }
}

void expect_diagnosis(expected const& e, emu::report const& good, emu::report const& bad) {
  EXPECT_TRUE(good.clean()) << good.text();
  ASSERT_FALSE(bad.clean()) << e.code << " was not seen";
  emu::diagnosis const& d = bad.diagnoses.front();
  EXPECT_EQ(d.code, e.code) << d.text;
  EXPECT_NE(d.text.find(e.part), std::string::npos) << d.text;
  if (e.by_thread) {
    EXPECT_NE(d.text.find("(test, CTA "), std::string::npos) << "who: " << d.text;
  }
  EXPECT_NE(d.text.find("\n  cause: "), std::string::npos) << d.text;
  EXPECT_NE(d.text.find("\n  remedy: "), std::string::npos) << d.text;
  auto const j = nlohmann::json::parse(to_json(bad))["diagnoses"][0];
  EXPECT_EQ(j.value("object", "").rfind(e.object, 0), 0U) << j;
  EXPECT_EQ(j.value("role", ""), e.by_thread ? "test" : "");
  EXPECT_EQ(j.value("thread", -1) >= 0, e.by_thread);
  if (e.phase >= 0) {
    EXPECT_EQ(j.value("phase", -1), e.phase);
  }
  bool const turned = d.code == "E0024" && j.value("line", 0) == marked_line("earlier");
  for (auto const& [mark, file, line] :
       {std::array{"now", "file", "line"}, {"earlier", "earlier_file", "earlier_line"}}) {
    int expected_line = marked_line(mark);
    if (turned) expected_line = marked_line(*mark == 'n' ? "earlier" : "now");
    EXPECT_TRUE(expected_line > 0 || *mark == 'e') << "no line is marked";
    if (expected_line == 0) continue;
    EXPECT_EQ(j.value(line, 0), expected_line) << mark << ": " << d.text;
    EXPECT_TRUE(j.value(file, "").ends_with("_test.cpp")) << d.text;
  }
  expect_readable(bad);
}

void expect_objects(emu::report const& r, char const* object, int phase) {
  for (auto const& d : nlohmann::json::parse(to_json(r))["diagnoses"]) {
    EXPECT_EQ(d.value("object", ""), object);
    EXPECT_EQ(d.value("phase", -1), phase);
    EXPECT_EQ(d.value("role", ""), "test");
    EXPECT_GT(d.value("line", 0), 0);
  }
}

}  // namespace tw::test
