// SPDX-License-Identifier: Apache-2.0
// global_test.cpp  Hazards of global memory and of cp.async, in the kernels of
//                  tools/check/mutants: what the diagnosis names, and that the correct kernel has
//                  none.
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/hazard/hazard_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace tw::test {
namespace {

using json = nlohmann::json;

/// The source line that a diagnosis names.
std::string line_at(json const& d, char const* file, char const* line) {
  std::filesystem::path const path(d.value(file, ""));
  std::ifstream source(TW_SOURCE_DIR "/tools/check/mutants/" + path.filename().string());
  std::string text;
  for (int i = 0; i < d.value(line, 0); ++i) std::getline(source, text);
  return text;
}

class GlobalHazards : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (!mutants::plain_accesses_are_seen()) GTEST_SKIP() << "built without interception";
  }
  /// Both accesses are the first ones of their lines; `object` begins the name.
  void expect(char const* code, std::string_view kernel, std::string_view name,
              std::string const& object, std::array<char const*, 2> lines) {
    for (mutants::mutant const& m : mutants::all_mutants()) {
      if (m.kernel != kernel || (!m.name.empty() && m.name != name)) continue;
      emu::options o = mutants::schedule(GetParam(), 5);
      o.most_reports = 1;
      emu::report r;
      r.diagnoses = m.run(m.which, o).diagnoses;
      if (m.name.empty()) {
        EXPECT_TRUE(r.clean()) << r.text();
        continue;
      }
      ASSERT_FALSE(r.clean()) << code << " was not seen";
      json const d = json::parse(to_json(r))["diagnoses"][0];
      EXPECT_EQ(d["code"], code) << r.text();
      EXPECT_EQ(d.value("object", "").rfind(object, 0), 0U) << d;
      EXPECT_GE(d.value("thread", -1), 0);
      EXPECT_GE(d.value("cta", -1), 0);
      EXPECT_NE(line_at(d, "file", "line").find(lines[0]), std::string::npos) << r.text();
      EXPECT_NE(line_at(d, "earlier_file", "earlier_line").find(lines[1]), std::string::npos)
          << r.text();
      expect_readable(r);
      ++found_;
    }
    EXPECT_EQ(found_, 1) << "no such mutant";
  }

 private:
  int found_ = 0;
};

TEST_P(GlobalHazards, FlagRaisedBeforeAllHaveWritten) {
  expect("E0042", "split_k", "no-sync-before-flag", "global memory partials+0x",
         {"sum += p.partials[", "mine[i] = part("});
}

TEST_P(GlobalHazards, StoreThatIsStillOnItsWay) {
  expect("E0043", "stream_k", "read-wait-only", "global memory partials+0x1000",
         {"sum += p.partials[", "tma_store("});
}

TEST_P(GlobalHazards, WrittenThroughTheOtherProxy) {
  expect("E0044", "gather", "no-global-fence", "global memory partials+0x",
         {"tma_load(", "mine[i] = part("});
}

TEST_P(GlobalHazards, CopyWithoutAWait) {
  expect("E0045", "copy_pipeline", "wait-too-shallow", "tile[", {"ldmatrix<4>(", "cp_async<16>("});
}

TEST_P(GlobalHazards, PredecessorThatIsNotDone) {
  expect("E0046", "pdl", "no-grid-wait", "global memory result+0x",
         {"= p.result[i]", "p.result[i] = sum"});
}

INSTANTIATE_TEST_SUITE_P(Schedules, GlobalHazards, testing::Range(0, mutants::schedule_families));

}  // namespace
}  // namespace tw::test
