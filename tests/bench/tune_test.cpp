// SPDX-License-Identifier: Apache-2.0
// tune_test.cpp  Tuning without a GPU: which plan is kept, what is measured again, and the command.
#include "tools/command/tune/tune.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "dispatch/tuning/tuned.hpp"
#include "tests/tools/command.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/weights_desc.hpp"
#include "tools/report/plan_answer.hpp"
#include "tools/report/plan_report.hpp"
#include "tools/request/problem_request.hpp"
#include "tools/request/sizes.hpp"

namespace tw::bench {
namespace {

using tw_test::run_command;

gemm_problem tn(std::int64_t m, std::int64_t n, std::int64_t k) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, order::row_major, k};
  p.b = {elem::bf16, order::col_major, k};
  p.d = {elem::bf16, order::row_major, n};
  return p;
}

std::string name_of(gemm_plan const& p) {
  return p.kernel + "/" + std::to_string(p.schedule.split_k_tiles) + "/" +
         std::to_string(p.swapped);
}

/// Takes 100 us for every plan but the one that is named, whose trial takes `trial_us` and whose
/// comparison takes `compared_us`, less `early_gain` of that if it starts early.
class fake_meter final : public plan_meter {
 public:
  using sizes_t = std::vector<std::int64_t>;

  tuning_identity identity() const override {
    return {"NVIDIA H200", "13.0", tuning_version(), 132};
  }
  std::vector<gemm_plan> begin(gemm_problem const& p, sizes_t const& sizes = {}) override {
    group_sizes = sizes;
    if (p.m == no_memory) throw rejected({"TW0714", "device memory", "little", "more", ""});
    auto* const x = reinterpret_cast<void*>(std::uintptr_t{0x1000});
    return plan_candidates(p, {x, x, nullptr, x, x, std::int64_t{64} << 20},
                           with_sm_count(known_device("h200"), 132));
  }
  double trial(gemm_plan const& p) override {
    if (trials == die_after) throw std::runtime_error("killed");
    ++trials;
    return name_of(p) == fast ? trial_us : 100;
  }
  std::vector<burst_times> compare(std::vector<gemm_plan> const& plans) override {
    ++comparisons;
    std::vector<burst_times> times;
    for (gemm_plan const& p : plans) {
      double const us = name_of(p) == fast ? compared_us * (1 - early_gain * p.starts_early) : 100;
      times.push_back({us, us + slower_burst_us * p.starts_early});
    }
    return times;
  }

  static constexpr std::int64_t no_memory = 8;
  std::string fast;
  sizes_t group_sizes;  // of the last GEMM
  double trial_us = 50, compared_us = 50, early_gain = 0;
  double slower_burst_us = 0;  // of launches that start early, than their median
  int trials = 0, comparisons = 0, die_after = -1;
};

class Tune : public testing::Test {
 protected:
  Tune() {
    char name[] = "/tmp/tune_XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/tune.db";
    ::setenv("TILEWRIGHT_TUNE", "off", 1);
  }
  ~Tune() override {
    ::unsetenv("TILEWRIGHT_TUNE");
    pretend_identity(std::nullopt);
    std::filesystem::remove_all(folder_);
  }
  tune_outcome run(tune_options const& o) {
    tuning_store store(path_, tuning_store::access::write);
    results_.clear();
    return tune(
        meter_, store, o, [&](double share) { EXPECT_TRUE(share >= 0 && share <= 1) << share; },
        [&](tune_result const& r) { results_.push_back(r); });
  }
  std::vector<tuned_problem> finished() const {
    return tuning_store(path_, tuning_store::access::read).finished();
  }

  std::string folder_, path_;
  fake_meter meter_;
  std::vector<tune_result> results_;
};

TEST_F(Tune, KeepsTheFastestAndThePlannerTakesIt) {
  auto const plans = meter_.begin(tn(512, 512, 512));
  meter_.fast = name_of(plans[7]);
  tune_outcome const outcome = run({.problems = {{tn(512, 512, 512)}}});
  EXPECT_EQ(outcome.finished, 1);
  EXPECT_EQ(meter_.trials, 16);
  ASSERT_EQ(results_.size(), 1U);
  EXPECT_EQ(results_[0].planned_us, 100);
  EXPECT_EQ(results_[0].fastest.us, 50);
  ::setenv("TILEWRIGHT_TUNE", path_.c_str(), 1);
  pretend_identity(meter_.identity());
  EXPECT_EQ(name_of(meter_.begin(tn(512, 512, 512))[0]), meter_.fast);
}

gemm_problem of_groups(std::int64_t rows) {
  gemm_problem p = tn(rows, 512, 512);
  p.groups = group_desc{.axis = group_axis::m, .count = 3};
  p.b.batch_stride_elems = p.n * p.k;
  return p;
}

TEST_F(Tune, GroupsAreMeasuredWithTheirSizesAndServeOthers) {
  gemm_problem const p = of_groups(300);
  meter_.fast = name_of(meter_.begin(p).back());
  run({.problems = {{p, {100, 50, 150}}}});
  EXPECT_EQ(meter_.group_sizes, (fake_meter::sizes_t{100, 50, 150}));
  ::setenv("TILEWRIGHT_TUNE", path_.c_str(), 1);
  pretend_identity(meter_.identity());
  EXPECT_EQ(name_of(meter_.begin(p)[0]), meter_.fast);
  EXPECT_EQ(name_of(meter_.begin(of_groups(270))[0]), meter_.fast);
  EXPECT_EQ(meter_.begin(of_groups(270))[0].measured_for, "M = 300, 100 rows a group");
  EXPECT_EQ(meter_.begin(of_groups(3000))[0].measured_for, "");
  auto const plans_for = [&](gemm_problem const& q) { return meter_.begin(q); };
  std::string const report =
      plan_text(answer_of(of_groups(270), "TN", "", known_device("h200"), 0, plans_for), 1);
  EXPECT_NE(report.find("fastest on this GPU for M = 300, 100 rows a group; the model puts it"),
            std::string::npos)
      << report;
}

TEST_F(Tune, TheComparisonDecidesNotTheTrial) {
  auto const plans = meter_.begin(tn(512, 512, 512));
  meter_.fast = name_of(plans[7]);
  meter_.compared_us = 101;  // its trial was luck
  run({.problems = {{tn(512, 512, 512)}}});
  EXPECT_EQ(results_[0].fastest.kernel, plans[0].kernel);
  EXPECT_EQ(results_[0].fastest.us, 100);
}

TEST_F(Tune, FindsWhetherTheFastestShouldStartEarly) {
  gemm_problem const p = tn(512, 512, 512);
  meter_.fast = name_of(meter_.begin(p)[7]);
  struct {
    double gain, slower_burst_us;
    std::optional<bool> early;
    double us;
  } const cases[] = {{0.06, 0, true, 47},
                     {-0.06, 0, false, 50},
                     {0.005, 0, std::nullopt, 0},
                     {0.06, 2, true, 47},
                     {0.06, 4, false, 50}};
  for (auto const& c : cases) {
    meter_.early_gain = c.gain, meter_.slower_burst_us = c.slower_burst_us;
    run({.problems = {{p}}, .again = true});
    EXPECT_EQ(results_[0].fastest.starts_early, c.early) << c.gain;
    if (c.early) {
      EXPECT_DOUBLE_EQ(results_[0].fastest.us, c.us) << c.gain;
    }
    EXPECT_EQ(finished()[0].fastest.starts_early, c.early) << c.gain;
  }
  EXPECT_EQ(meter_.comparisons, 10);
  meter_.compared_us = 100, meter_.early_gain = 0;  // an early start is lost in that
  run({.problems = {{p}}, .again = true});
  EXPECT_EQ(meter_.comparisons, 11);
  EXPECT_EQ(results_[0].fastest.starts_early, std::nullopt);
}

TEST_F(Tune, GoesOnWhereItWasEnded) {
  meter_.die_after = 20;  // 16 of the first GEMM, 4 of the second
  std::vector<tune_problem> const problems{{tn(512, 512, 512)}, {tn(512, 512, 1024)}};
  EXPECT_THROW(run({.problems = problems}), std::runtime_error);
  EXPECT_EQ(finished().size(), 1U);
  meter_.trials = 0, meter_.die_after = -1;
  tune_outcome const outcome = run({.problems = problems});
  EXPECT_EQ(outcome.skipped, 1);
  EXPECT_EQ(outcome.finished, 1);
  EXPECT_EQ(meter_.trials, 12) << "four were measured before";
  EXPECT_EQ(results_[0].tried, 16);
  EXPECT_EQ(finished().size(), 2U);
  meter_.trials = 0;
  EXPECT_EQ(run({.problems = problems}).skipped, 2);
  EXPECT_EQ(meter_.trials, 0);
  EXPECT_EQ(run({.problems = problems, .again = true}).finished, 2);
  EXPECT_EQ(meter_.trials, 32);
}

TEST_F(Tune, AProductThatFailsDoesNotEndTheOthers) {
  tune_outcome const outcome =
      run({.problems = {{tn(fake_meter::no_memory, 64, 64)}, {tn(512, 512, 512)}}});
  EXPECT_EQ(outcome.failed, 1);
  EXPECT_EQ(outcome.finished, 1);
  EXPECT_NE(results_[0].failure.find("TW0714"), std::string::npos);
}

TEST_F(Tune, EndsWhenItsTimeIsOver) {
  tune_outcome const outcome = run({.problems = {{tn(512, 512, 512)}}, .minutes = 1e-9});
  EXPECT_TRUE(outcome.out_of_time);
  EXPECT_EQ(meter_.trials, 0);
  EXPECT_TRUE(finished().empty());
}

TEST(TuneSizes, AnExtentMayBeAListOrARange) {
  auto const text = [](std::vector<std::string> const& words) {
    std::string all;
    for (gemm_size const& s : parse_sizes(words))
      all += std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + " ";
    return all;
  };
  EXPECT_EQ(text({"64:256:64", "8", "9"}), "64x8x9 128x8x9 192x8x9 256x8x9 ");
  EXPECT_EQ(text({"64:300:x2", "8", "9,10"}), "64x8x9 64x8x10 128x8x9 128x8x10 256x8x9 256x8x10 ");
  EXPECT_EQ(text({"1:4:x2x5x6", "7x8x9"}), "1x5x6 2x5x6 4x5x6 7x8x9 ");
  EXPECT_EQ(text({"5:5:1x1,2x3"}), "5x1x3 5x2x3 ");
  for (char const* bad : {"64:32:8x1x1", "1:2x1x1", "1:2:3:4x1x1", "1:9:x1x1x1", "1:9:0x1x1",
                          "1,x2x3", "1:999999:1x9x9", "1:1000:1x1:1000:1x1"})
    EXPECT_THROW(parse_sizes({bad}), rejected) << bad;
}

TEST(TuneSizes, ThreeNumbersOrWords) {
  auto const plain = parse_sizes({"1", "2", "3"});
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].k, 3);
  auto const words = parse_sizes({"1x2x3", "4x5x6", "7x8x9", "10x11x12"});
  ASSERT_EQ(words.size(), 4U);
  EXPECT_EQ(words[3].n, 11);
  using words_t = std::vector<std::string>;
  for (words_t const& bad : {words_t{"1", "2"},
                             {"1x2"},
                             {"1x2x"},
                             {"1x2x3x4"},
                             {"0x1x1"},
                             {"x"},
                             {"1", "b", "3"},
                             {"99999999999999999999x1x1"}})
    try {
      parse_sizes(bad);
      ADD_FAILURE() << bad[0] << " accepted";
    } catch (rejected const& r) {
      EXPECT_EQ(r.why().code, "TW0803");
    }
}

TEST_F(Tune, TheCommandListsAndExports) {
  run({.problems = {{tn(512, 512, 512)}, {tn(64, 64, 4096)}}});
  std::string const variable = "TILEWRIGHT_TUNE=" + path_, file = folder_ + "/export.csv";
  auto const list = run_command({"tune", "--list"}, {variable});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_NE(list.out.find("512x512x512 bf16 TN"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("64x64x4096"), std::string::npos) << list.out;
  EXPECT_EQ(run_command({"tune", "--export", file}, {variable}).status, 0);
  auto const row = [&](std::size_t i, char const* size) {
    measured_plan const f = finished()[i].fastest;
    return "NVIDIA H200," + std::string(size) + ",1,bf16,bf16,TN,,," + f.kernel + "," +
           std::to_string(f.split_k_tiles) + "," + std::to_string(f.split_k_clusters) + ",100.00,";
  };
  std::string const rows = tw_test::read_file(file);
  EXPECT_EQ(rows.find("device,m,n,k,batch,ab,d,layout,scales,promote,kernel,"), 0U) << rows;
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3) << rows;
  EXPECT_NE(rows.find(row(0, "512,512,512")), std::string::npos) << rows;
  EXPECT_NE(rows.find(row(1, "64,64,4096")), std::string::npos) << rows;
}

TEST_F(Tune, ProblemsThatTablesCannotHaveAreNotExported) {
  gemm_problem padded = tn(64, 64, 64), column_major = padded, with_c = padded, weights = padded;
  padded.a.pitch_elems += 8;
  column_major.d.ord = order::col_major;
  with_c.c = with_c.d, with_c.beta = 1;
  weights.weights_b = parse_weights("int4", elem::bf16).value();
  tuning_store store(path_, tuning_store::access::write);
  for (gemm_problem const& p : {padded, column_major, with_c, weights, of_groups(64)})
    store.finish(meter_.identity(), p, {"kernel", false, 0, 0, 1, 1, true}, 1);
  std::string const variable = "TILEWRIGHT_TUNE=" + path_, file = folder_ + "/export.csv";
  auto const done = run_command({"tune", "--export", file}, {variable});
  EXPECT_EQ(done.status, 0);
  EXPECT_NE(done.err.find("5 problems are left out"), std::string::npos) << done.err;
  EXPECT_NE(done.err.find("no groups, no prepared weights"), std::string::npos) << done.err;
  EXPECT_EQ(std::ranges::count(tw_test::read_file(file), '\n'), 1);
}

TEST_F(Tune, TheListHasGroupsAndWeights) {
  gemm_problem weights = tn(16, 64, 128), expected = of_groups(64);
  weights.weights_b = parse_weights("mxfp4", elem::bf16).value();
  expected.groups->expected_size = 40;
  tuning_store store(path_, tuning_store::access::write);
  for (gemm_problem const& p : {weights, of_groups(64), expected})
    store.finish(meter_.identity(), p, {"kernel", false, 0, 0, 1, 1}, 1);
  std::string const variable = "TILEWRIGHT_TUNE=" + path_;
  std::string const list = run_command({"tune", "--list"}, {variable}).out;
  for (std::string const& line : {"16x64x128 bf16 TN weights " + text_of(weights.weights_b) + " ",
                                  std::string("64x512x512 bf16 TN 3 groups of m "),
                                  std::string("64x512x512 bf16 TN 3 groups of m, 40 expected ")})
    EXPECT_NE(list.find(line), std::string::npos) << line << "\n" << list;
  auto const tuned = run_command({"tune", "--list", "--json"}, {variable}).json()["tuned"];
  ASSERT_EQ(tuned.size(), 3U);
  EXPECT_EQ(tuned[0]["weights"].dump(),
            R"({"format":"mxfp4","group":32,"scale_dtype":"ue8m0","zeros":"none"})");
  EXPECT_TRUE(tuned[0]["groups"].is_null());
  EXPECT_TRUE(tuned[1]["weights"].is_null());
  EXPECT_EQ(tuned[1]["groups"].dump(),
            R"({"axis":"m","count":3,"expected_size":null,"form":"ends"})");
  EXPECT_EQ(tuned[2]["groups"]["expected_size"], 40);
}

TEST_F(Tune, RowsStateScalesAndSums) {
  gemm_problem scaled = tn(256, 512, 2048);
  scaled.a.type = scaled.b.type = elem::e4m3;
  gemm_problem fast = scaled;
  scaled.scale_a = make_scale({false, 256, 2048}, scaling::block_1x128);
  scaled.scale_b = make_scale({true, 512, 2048}, scaling::block_128x128);
  fast.precision.promote_k = 0;
  tuning_store store(path_, tuning_store::access::write);
  for (gemm_problem const& p : {scaled, fast})
    store.finish(meter_.identity(), p, {"kernel", false, 0, 0, 1, 1, true}, 1);
  std::string const variable = "TILEWRIGHT_TUNE=" + path_, file = folder_ + "/export.csv";
  EXPECT_EQ(run_command({"tune", "--export", file}, {variable}).status, 0);
  std::string const rows = tw_test::read_file(file);
  EXPECT_NE(rows.find(",e4m3,bf16,TN,1x128:128x128,,kernel,"), std::string::npos) << rows;
  EXPECT_NE(rows.find(",e4m3,bf16,TN,,0,kernel,"), std::string::npos) << rows;
}

TEST_F(Tune, TheCommandShowsEarlyStarts) {
  tuning_store store(path_, tuning_store::access::write);
  std::optional<bool> const early[] = {true, false, std::nullopt};
  for (int i = 0; i < 3; ++i)
    store.finish(meter_.identity(), tn(64, 64, 64 + i), {"kernel", false, 0, 0, 1, 1, early[i]}, 1);
  std::string const variable = "TILEWRIGHT_TUNE=" + path_, file = folder_ + "/export.csv";
  std::string const list = run_command({"tune", "--list"}, {variable}).out;
  EXPECT_NE(list.find("kernel, starts early  of"), std::string::npos) << list;
  EXPECT_NE(list.find("kernel, does not start early  of"), std::string::npos) << list;
  EXPECT_NE(list.find("kernel  of"), std::string::npos) << list;
  EXPECT_EQ(run_command({"tune", "--export", file}, {variable}).status, 0);
  std::string const rows = tw_test::read_file(file);
  EXPECT_NE(rows.find("64,64,64,1,bf16,bf16,TN,,,kernel,0,0,1.00,early\n"), std::string::npos)
      << rows;
  EXPECT_NE(rows.find("64,64,65,1,bf16,bf16,TN,,,kernel,0,0,1.00,late\n"), std::string::npos)
      << rows;
  EXPECT_NE(rows.find("64,64,66,1,bf16,bf16,TN,,,kernel,0,0,1.00,\n"), std::string::npos) << rows;
}

TEST_F(Tune, TheCommandRefuses) {
  auto const code = [&](std::vector<std::string> words, std::string const& variable) {
    words.insert(words.begin(), "tune");
    auto const r = run_command(words, {variable, "CUDA_VISIBLE_DEVICES=-1"});
    return std::to_string(r.status) + " " + r.err.substr(12, 6);
  };
  std::string const file = "TILEWRIGHT_TUNE=" + path_;
  EXPECT_EQ(code({"64", "64", "64"}, file).substr(0, 7), "77 TW05");
  EXPECT_FALSE(std::filesystem::exists(path_)) << "made for nothing";
  EXPECT_EQ(code({}, file), "2 TW0803");
  EXPECT_EQ(code({"1x2"}, file), "2 TW0803");
  EXPECT_EQ(code({"64", "64", "64", "--dtype", "fp8_rows"}, file), "2 TW0615");
  EXPECT_EQ(code({"--list"}, "TILEWRIGHT_TUNE=off"), "2 TW0802");
  EXPECT_EQ(code({"--list"}, "TILEWRIGHT_TUNE=" + std::string(TW_COMMAND)), "2 TW0801");
  auto const none = run_command({"tune", "--list"}, {file});
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out.rfind("nothing is tuned yet", 0), 0U) << none.out << none.err;
  std::string const result = folder_ + "/export.csv";
  auto const nothing = run_command({"tune", "--export", result}, {file});
  EXPECT_EQ(nothing.status, 2) << nothing.out;
  EXPECT_NE(nothing.err.find("TW0802"), std::string::npos) << nothing.err;
  EXPECT_NE(nothing.err.find("nothing is tuned yet"), std::string::npos) << nothing.err;
  EXPECT_FALSE(std::filesystem::exists(result));
}

TEST_F(Tune, TheCommandTakesEpiloguesAndBatches) {
  auto const r = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"tune", "64", "64", "64"});
    return run_command(words, {"TILEWRIGHT_TUNE=" + path_, "CUDA_VISIBLE_DEVICES=-1"});
  };
  EXPECT_EQ(r({"--epilogue", "bias_gelu", "--batch", "4"}).status, 77);  // but for the GPU
  EXPECT_EQ(r({"--epilogue", "swiglu:interleaved", "--dtype", "bf16_f32"}).status, 77);
  EXPECT_EQ(r({"--epilogue", "polish"}).status, 2);
  EXPECT_EQ(r({"--batch", "0"}).status, 2);
  EXPECT_EQ(r({}).err.find("--device"), std::string::npos) << "an option that tune has not";
}

TEST_F(Tune, TheCommandTakesGroupsAndWeights) {
  auto const r = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "tune");
    return run_command(words, {"TILEWRIGHT_TUNE=" + path_, "CUDA_VISIBLE_DEVICES=-1"});
  };
  std::string const file = folder_ + "/shapes.json", bench = TW_SOURCE_DIR "/bench/";
  auto const status = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"512", "256", "256"});
    return r(words).status;
  };
  constexpr int all_but_a_gpu = 77;
  EXPECT_EQ(status({"--groups", "8", "--group-axis", "n", "--expected-rows", "40"}), all_but_a_gpu);
  EXPECT_EQ(status({"--groups", "8", "--group-pattern", "zipf", "--weights", "int4:32"}),
            all_but_a_gpu);
  EXPECT_EQ(status({"--weights", "nvfp4"}), all_but_a_gpu);
  EXPECT_EQ(status({"--weights", "int3"}), 2);
  EXPECT_EQ(status({"--groups", "0"}), 2);
  EXPECT_EQ(status({"--groups", "8", "--batch", "2"}), 2);
  EXPECT_EQ(status({"--group-axis", "k"}), 2) << "without --groups";
  EXPECT_EQ(status({"--groups", "8", "--ranks", "2"}), 2);
  EXPECT_EQ(status({"--weights", "int4", "--ranks", "2"}), 2);
  for (char const* const list : {"shapes_groups.json", "shapes_weights4.json"})
    EXPECT_EQ(r({"--shapes", bench + list}).status, all_but_a_gpu) << list;
  std::ofstream(file) << R"([
    {"name": "x", "category": "c", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "layout": "TN",
     "groups": 4},
    {"name": "y", "category": "c", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "layout": "TN",
     "groups": 4, "group_pattern": "one-hot"},
    {"name": "z", "category": "c", "m": 64, "n": 64, "k": 64, "dtype": "bf16", "layout": "TN",
     "weights": "int4", "batch": 2}])";
  std::string const said = r({"--shapes", file}).err;
  EXPECT_NE(said.find("y is left out: x is the same GEMM to the planner"), std::string::npos)
      << said;
  EXPECT_NE(said.find("z is left out: TW0"), std::string::npos) << said;
}

TEST(TuneSizes, ABatchWithAGateHasResultsOfHalfTheColumns) {
  problem_request gated{.m = 64, .n = 96, .k = 128, .batch = 4};
  gated.epilogue = find_epilogue("swiglu").value();
  EXPECT_EQ(problem_of(gated).d.batch_stride_elems, 64 * 48);
  EXPECT_FALSE(accept(problem_of(gated)));
}

}  // namespace
}  // namespace tw::bench
