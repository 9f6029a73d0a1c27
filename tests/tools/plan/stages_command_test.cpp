// SPDX-License-Identifier: Apache-2.0
// stages_command_test.cpp  tilewright stages in the emulator: how many events, how they follow each
//                          other, the trace, refusals.
#include <map>

#include "tests/tools/command.hpp"
#include "tools/command/stages/report.hpp"
#include "tools/command/stages/run.hpp"

namespace {

using namespace tw_test;

TEST(StagesCommand, AnEventForEachKBlockAndATileForEachStore) {
  for (bool const is_wide : {true, false}) {
    auto const* const kernel =
        tw::stages::find_recorded("sm90_gemm", is_wide ? "128x256" : "128x128");
    tw::stages::run const r = tw::stages::run_emulated({256, 512, 320, kernel});
    ASSERT_FALSE(r.roles.empty());
    EXPECT_TRUE(r.correct);
    int tiles = 0;
    for (auto const& role : r.roles) {
      EXPECT_EQ(role.lost, 0);
      int loads = 0, stores = 0;
      std::uint64_t at = 0;
      for (tw::stage_event const& e : role.events) {
        EXPECT_GE(e.begin, at) << "events of a warpgroup do not overlap";
        EXPECT_GE(e.end, e.begin);
        at = e.end;
        loads += e.stage == tw::kernel_stage::load;
        stores += e.stage == tw::kernel_stage::store;
      }
      EXPECT_EQ(loads, 5 * stores) << "K = 320 is five blocks";
      // A K block of a warpgroup is four steps of N / 2 cycles on the tensor cores.
      EXPECT_GE(at, static_cast<std::uint64_t>(loads * 4 * (is_wide ? 128 : 64)));
      tiles += role.role == 0 ? stores : 0;
    }
    EXPECT_EQ(tiles, is_wide ? 4 : 8);
    EXPECT_GT(figures_of(r, tw::kernel_stage::store).mean, 0);
  }
}

TEST(StagesCommand, TheFirstLoadTakesTheLatencyOfMemory) {
  tw::stages::run const r =
      tw::stages::run_emulated({128, 128, 64, tw::stages::find_recorded("sm90_gemm", "128x128")});
  tw::stage_event const first = r.roles.front().events.front();
  EXPECT_EQ(first.stage, tw::kernel_stage::load);
  EXPECT_GE(first.end - first.begin, 700U);  // docs/timeline.md
}

/// All warps load and multiply: a wait for each K tile of 32, and one before the first.
TEST(StagesCommand, AKernelWithCpAsyncHasARecordToo) {
  tw::stages::run const r =
      tw::stages::run_emulated({256, 512, 320, tw::stages::find_recorded("sm80_gemm")});
  EXPECT_TRUE(r.correct);
  ASSERT_EQ(r.roles.size(), 8U);  // a tile for each CTA, of one warpgroup
  for (auto const& role : r.roles) {
    std::map<tw::kernel_stage, int> count;
    std::uint64_t at = 0;
    for (tw::stage_event const& e : role.events) {
      EXPECT_GE(e.begin, at);
      EXPECT_GE(e.end, e.begin);
      at = e.end;
      ++count[e.stage];
    }
    EXPECT_EQ(count[tw::kernel_stage::load], 11);
    EXPECT_EQ(count[tw::kernel_stage::tensor_core], 11);
    EXPECT_EQ(count[tw::kernel_stage::store], 1);
  }
}

/// One warp multiplies and waits for each K block, another waits for accumulators and stores them.
TEST(StagesCommand, ARoleOfAKernelForBlackwellHasItsStages) {
  using enum tw::kernel_stage;
  tw::stages::run const r =
      tw::stages::run_emulated({256, 512, 320, tw::stages::find_recorded("sm100_gemm")});
  EXPECT_TRUE(r.correct);
  ASSERT_EQ(r.roles.size(), 4U);  // two of each of two CTAs
  for (auto const& role : r.roles) {
    std::map<tw::kernel_stage, int> count;
    std::uint64_t at = 0;
    for (tw::stage_event const& e : role.events) {
      EXPECT_GE(e.begin, at);
      EXPECT_GE(e.end, e.begin);
      at = e.end;
      ++count[e.stage];
    }
    bool const multiplies = role.role == 0;
    EXPECT_EQ(count[load], multiplies ? 4 * 5 : 0) << "four tiles of five K blocks";
    EXPECT_EQ(count[tensor_core], multiplies ? 0 : 4);
    EXPECT_EQ(count[store], multiplies ? 0 : 4);
  }
  EXPECT_GT(figures_of(r, tensor_core).mean, 0);
  EXPECT_GT(figures_of(r, store).mean, 0);
  auto const load_json = tw::stages::report_json({r})["runs"][0]["stages"]["load"];
  EXPECT_TRUE(load_json["article_cycles"].is_null()) << "the article's kernel is Hopper's";
}

TEST(StagesCommand, TheTraceHoldsBothAndIsValid) {
  scratch const folder;
  std::string const path = folder / "trace.json";
  auto const r =
      run_command({"stages", "256", "512", "128", "--device", "emu", "--trace", path, "--json"});
  EXPECT_EQ(r.status, 0) << r.err;
  auto const figures = r.json()["runs"][0]["stages"];
  auto const trace = nlohmann::json::parse(read_file(path));
  std::map<std::string, std::int64_t> stages;
  bool timeline = false;
  for (auto const& e : trace) {
    if (e.value("cat", "") == "stage") ++stages[e["name"]];
    timeline = timeline || e.value("cat", "") == "multiply";
  }
  EXPECT_TRUE(timeline);
  EXPECT_EQ(stages["load"], figures["load"]["events"]);
  EXPECT_EQ(stages["tensor core"], figures["tensor_core"]["events"]);
  EXPECT_EQ(stages["store"], figures["store"]["events"]);
  EXPECT_EQ(figures["load"]["article_cycles"], 1415);
}

TEST(StagesCommand, Refusals) {
  auto const code = [](std::vector<std::string> words) {
    words.insert(words.begin(), "stages");
    words.emplace_back("--json");
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2) << r.out;
    return r.json()["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({"256", "256", "100", "--device", "emu"}), "TW0656");
  EXPECT_EQ(code({"256", "256", "64", "--family", "sm80_gemm", "--tile", "128x256"}), "TW0656");
  EXPECT_EQ(code({"256", "256", "64", "--family", "sm80_gemm", "--device", "gpu"}), "TW0656");
  EXPECT_EQ(code({"256", "256", "64", "--family", "sm100_gemm", "--tile", "128x256"}), "TW0656");
  EXPECT_EQ(code({"256", "256", "64", "--family", "sm100_gemm", "--device", "gpu"}), "TW0656");
  EXPECT_EQ(code({"256", "256"}), "TW0803");
  EXPECT_EQ(code({"64", "64", "64", "--device", "emu", "--trace", "/nonexistent/x.json"}),
            "TW0612");
}

}  // namespace
