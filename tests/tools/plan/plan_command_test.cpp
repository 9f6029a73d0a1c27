// SPDX-License-Identifier: Apache-2.0
// plan_command_test.cpp  tilewright plan: text and JSON agree, terms add up, ceilings are measured.
#include "tests/tools/command.hpp"
#include "tools/report/ceilings.hpp"
#include "tools/report/plan_report.hpp"

namespace {

using namespace tw_test;

TEST(PlanCommand, NeedsNoGpuAndSaysWhy) {
  auto const r = run_command({"plan", "4096", "4096", "4096", "--top", "2"});
  EXPECT_EQ(r.status, 0) << r.err;
  for (char const* const word :
       {"chosen     sm90_bf16_bf16_tn_", "because    measured to be", "limit      the tensor cores",
        "runner-up  ", "predicted  ", "of wgmma alone", "measured   ", "more (--top 0 shows all)"})
    EXPECT_NE(r.out.find(word), std::string::npos) << word << " in\n" << r.out;
}

TEST(PlanCommand, TheTableFitsTheTerminal) {
  std::vector<std::string> const words{"plan", "200", "4096", "14336", "--top", "6"};
  std::string const full =
      run_command(words).out;  // no terminal: every column, lines of any length
  for (char const* const title : {"predicted measured", "smem", "epilog.", "waves"})
    EXPECT_NE(full.find(title), std::string::npos) << full;
  std::size_t numbers_of_widest = 0;
  for (int const columns : {30, 40, 60, 80, 100, 130, 200}) {
    auto const r = run_command(words, {"COLUMNS=" + std::to_string(columns)});
    ASSERT_EQ(r.status, 0) << r.err;
    std::istringstream lines(r.out);
    std::size_t numbers = 0;  // titles of the table
    for (std::string line; std::getline(lines, line);) {
      std::size_t const begin = std::min(line.find_first_not_of(' '), line.size());
      bool const labelled = line.rfind("chosen ", 0) == 0 || line.rfind("runner-up ", 0) == 0;
      bool const one_word =  // after the label, if there is one
          line.find(' ', labelled ? 11 : begin) == std::string::npos;
      EXPECT_TRUE(static_cast<int>(line.size()) <= columns || one_word) << columns << ": " << line;
      if (line.find("predicted measured") == std::string::npos) continue;
      for (char const* const title :
           {"tensor", "idle", "loads", "DRAM", "smem", "epilog.", "split-K", "launch", "waves"})
        numbers += line.find(title) != std::string::npos ? 1 : 0;
    }
    EXPECT_GE(numbers, columns >= 80 ? 5U : columns >= 60 ? 4U : 0U) << columns << "\n" << r.out;
    numbers_of_widest = numbers;
    EXPECT_NE(r.out.find("sm90_bf16_bf16_tn_"), std::string::npos) << r.out;
  }
  EXPECT_EQ(numbers_of_widest, 9U) << "all terms in 200 columns";
}

TEST(PlanCommand, AVerbHasTheOptionNamesOfTheOthers) {
  for (std::string const verb : {"gemm", "plan", "tune", "bench gemm"}) {
    std::vector<std::string> words;
    std::istringstream parts(verb);
    for (std::string word; parts >> word;) words.push_back(word);
    words.emplace_back("--help");
    std::string const help = run_command(words).out;
    for (char const* const name : {"--dtype", "--ab", "--out-dtype", "--d"})
      EXPECT_NE(help.find(name), std::string::npos) << verb << " lacks " << name;
  }
}

TEST(PlanCommand, OrdersThatMeanTheSameGetTheSamePlan) {
  auto const plan = [](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    words.insert(words.end(), {"--json", "--top", "1"});
    auto chosen = run_command(words).json()["chosen"];
    return chosen["kernel"].dump() + chosen["predicted_us"].dump();
  };
  for (std::string const column : {"4096x1x4096", "28672x1x8192", "1x1x1048576"})
    EXPECT_EQ(plan({column, "--layout", "TT"}), plan({column, "--layout", "TN"})) << column;
  for (std::string const row : {"1x4096x4096", "1x1x1048576"})
    EXPECT_EQ(plan({row, "--layout", "NN"}), plan({row, "--layout", "TN"})) << row;
  EXPECT_EQ(plan({"1x4096x4096", "--d-order", "col", "--ldd", "1"}), plan({"1x4096x4096"}));
}

TEST(PlanCommand, TypesAndSizesHaveTheSpellingsOfOtherVerbs) {
  auto const out = [](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 0) << r.err;
    return r.out;
  };
  std::string const want = out({"64", "128", "256", "--dtype", "f16", "--out-dtype", "f32"});
  EXPECT_EQ(out({"64x128x256", "--ab", "f16", "--d", "f32"}), want);
  EXPECT_EQ(out({"64", "128", "256", "--dtype", "float16", "--out-dtype", "float32"}), want);
  EXPECT_EQ(out({"64", "128", "256", "--dtype", "FP16", "--out-dtype", "fp32"}), want);
  for (std::vector<std::string> const& bad : {std::vector<std::string>{"plan", "64", "64"},
                                              {"plan", "64x64"},
                                              {"plan", "0", "1", "1"},
                                              {"plan", "64x64x64", "8x8x8"},
                                              {"plan", "64:128:64x8x8"}})
    EXPECT_EQ(run_command(bad).err.rfind("tilewright: TW0803", 0), 0U);
}

TEST(PlanCommand, AGemvIsNamedWithItsCtas) {
  auto const r = run_command({"plan", "1", "4100", "4096", "--top", "1"});
  for (char const* const word :
       {"chosen     gemv_bf16_bf16_4x2_u4_1x4_c4 on 528 CTAs", "limit      DRAM: "})
    EXPECT_NE(r.out.find(word), std::string::npos) << word << " in\n" << r.out;
}

TEST(PlanCommand, SaysWhyItStartsEarly) {
  auto const launch = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"plan", "--all-kernels"});
    std::string const text = run_command(words).out;
    std::size_t const at = text.find("launch     ");
    std::string const line = text.substr(at, text.find('\n', at) - at);
    words.emplace_back("--json");
    auto const chosen = run_command(words).json()["chosen"];
    EXPECT_EQ(chosen["starts_early"], line.find("may start while") != std::string::npos) << line;
    EXPECT_EQ(chosen["early_measured"], line.find("measured") != std::string::npos) << line;
    return line;
  };
  EXPECT_EQ(launch({"64", "8192", "1024"}),
            "launch     may start while the one before it ends, which was measured to be faster");
  EXPECT_EQ(launch({"64", "2560", "4096"}),
            "launch     starts when the one before it has ended, which was measured to be faster");
  EXPECT_EQ(launch({"2048", "2048", "512"}),
            "launch     may start while the one before it ends, by the rule");
  EXPECT_EQ(launch({"128", "4104", "4096"}),
            "launch     starts when the one before it has ended, by the rule");
}

TEST(PlanCommand, ShowsL2CacheHints) {
  auto const l2 = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"plan", "--all-kernels"});
    std::string const text = run_command(words).out;
    std::size_t const at = text.find("L2         ");
    words.emplace_back("--json");
    std::string const json = run_command(words).json()["chosen"]["l2"].dump();
    return (at == std::string::npos ? "\n" : text.substr(at, text.find('\n', at) - at + 1)) + json;
  };
  EXPECT_EQ(l2({"32", "57344", "8192"}),
            "L2         B makes room first, in pieces of 128 bytes\n"
            R"({"a":"plain","b":"evict_first","by_128_bytes":true,"d":"plain"})");
  EXPECT_EQ(l2({"8192", "8192", "128"}),
            "L2         D makes room first\n"
            R"({"a":"plain","b":"plain","by_128_bytes":false,"d":"evict_first"})");
  EXPECT_EQ(l2({"128", "128", "16384"}),
            "L2         B is loaded with evict_normal, for few CTAs\n"
            R"({"a":"plain","b":"evict_normal","by_128_bytes":false,"d":"plain"})");
  EXPECT_EQ(l2({"2048", "2048", "2048"}),
            "\n"
            R"({"a":"plain","b":"plain","by_128_bytes":false,"d":"plain"})");
}

TEST(PlanCommand, TermsOfThePredictionAddUp) {
  for (std::vector<std::string> const& size : {std::vector<std::string>{"4096", "4096", "4096"},
                                               {"1", "4096", "4096"},
                                               {"1", "128256", "4096"},
                                               {"8", "8192", "28672"},
                                               {"64", "64", "65536"},
                                               {"8192", "8192", "128"}}) {
    std::vector<std::string> words{"plan", "--json", "--top", "0"};
    words.insert(words.end(), size.begin(), size.end());
    auto const j = run_command(words).json();
    ASSERT_EQ(j["plans"].size(), j["candidates"].get<std::size_t>());
    for (auto const& p : j["plans"]) {
      auto const t = [&](char const* name) { return p["terms_us"][name].get<double>(); };
      double const math = t("tensor") + t("idle");
      double const rest = t("launch") + t("copies") + t("reduction");
      double const busy = math + t("epilogue");  // loads and DRAM go on meanwhile
      double const us = p["predicted"]["us"];
      EXPECT_GE(us, rest + std::max({busy, t("loads"), t("dram")}) - 1e-6) << p;
      EXPECT_LE(us, rest + busy + t("loads") + t("dram") + t("shared_memory") + 1e-6) << p;
      EXPECT_GE(t("tensor"), 0) << p;
    }
  }
}

TEST(PlanCommand, SharesOfTheCeilings) {
  auto const j = run_command({"plan", "4096", "4096", "4096", "--json"}).json();
  auto const& measured = j["chosen"]["measured"];
  double const tflops = 2e-6 * 4096 * 4096 * 4096 / measured["us"].get<double>();
  EXPECT_NEAR(measured["us"].get<double>(), 173, 10);
  EXPECT_NEAR(measured["tflops"].get<double>(), tflops, 0.1);
  EXPECT_NEAR(measured["of_wgmma_ceiling"].get<double>(), tflops / 944, 0.0001);
  EXPECT_EQ(j["chosen"]["source"], "table of winners");
  auto const other = run_command({"plan", "4096", "4096", "4000", "--json"}).json();
  EXPECT_TRUE(other["chosen"]["measured"].is_null());
  EXPECT_EQ(other["chosen"]["source"], "model");
}

/// The median over samples of a row of the ceilings' result.
double ceiling(nlohmann::json const& file, std::string const& name, std::string const& data,
               char const* figure) {
  for (auto const& row : file["rows"])
    if (row["name"] == name && row["mode"] == "burst" && row.value("data", "") == data)
      return row[figure];
  return 0;
}

TEST(PlanCommand, TheCeilingsAreThoseOfTheMeasurement) {
  auto const file = nlohmann::json::parse(
      read_file(std::string(TW_SOURCE_DIR) + "/bench/results/2026-11-20-h200-ceiling.json"));
  EXPECT_NEAR(ceiling(file, "wgmma m64n256k16 bf16", "normal", "tflops"),
              tw::known_device("h200").wgmma_ceiling_tflops, 0.5);
  EXPECT_NEAR(ceiling(file, "DRAM read 8 GiB", "", "gb_per_s"),
              tw::known_device("h200").dram_ceiling_gb_per_s, 0.5);
}

TEST(PlanCommand, TheLimitIsShown) {
  tw::gemm_plan p;
  p.predicted_us = 10;
  p.family = tw::find_family("sm90_gemm");
  auto const limit = [&](tw::plan_terms const& t) {
    p.terms = t;
    return tw::limit_text(p).substr(0, 9);
  };
  EXPECT_EQ(limit({.tensor = 5, .idle = 3, .loads = 7}), "the tenso");
  EXPECT_EQ(limit({.tensor = 5, .loads = 7}), "loads fro");
  EXPECT_EQ(limit({.tensor = 5, .dram = 7}), "DRAM: 7.0");
  EXPECT_EQ(limit({.epilogue = 7}), "the epilo");
  EXPECT_EQ(limit({.tensor = 5, .reduction = 6, .launch = 2}), "fixed cos");
  p.family = tw::find_family("gemv");
  EXPECT_EQ(limit({.loads = 7, .dram = 5}), "loads: 7.");
  EXPECT_EQ(limit({.loads = 5, .dram = 7}), "DRAM: 7.0");
}

TEST(PlanCommand, AnInvariantGemmShowsItsOrderAndCost) {
  std::vector<std::string> words{"plan", "1", "4096", "8192", "--all-kernels"};
  auto const free = run_command(words);
  EXPECT_EQ(free.out.find("order      "), std::string::npos) << free.out;
  words.emplace_back("--invariant");
  auto const text = run_command(words);
  EXPECT_NE(text.out.find("order      wgmma of 16 elements of K, one after another, in float32; "
                          "predicted +"),
            std::string::npos)
      << text.out;
  words.emplace_back("--json");
  auto const json = run_command(words).json();
  EXPECT_TRUE(json["reproducible"].get<bool>());
  EXPECT_GT(json["chosen"]["predicted"]["us"].get<double>(), json["any_order_us"].get<double>());
  for (auto const& p : json["plans"]) EXPECT_TRUE(p["sum_order"]["invariant"].get<bool>()) << p;
}

TEST(PlanCommand, EightBitsThatDoNotPayAreNamed) {
  auto const line = [](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    words.emplace_back("--all-kernels");
    std::string const text = run_command(words).out;
    std::size_t const at = text.find("\nwidth ");
    return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at);
  };
  EXPECT_EQ(line({"8192", "8192", "8192", "--dtype", "e4m3"}), "");
  EXPECT_NE(line({"1", "64", "64", "--dtype", "e4m3"}).find("e4m3 does not pay here"),
            std::string::npos);
  EXPECT_EQ(line({"1", "64", "64", "--dtype", "bf16"}), "");
}

TEST(PlanCommand, ALongSumThatIsNeverPromotedIsAHint) {
  for (auto const& [k, promote, told] :
       {std::tuple{"8192", "never", true}, {"512", "never", false}, {"8192", "128", false}}) {
    auto const r = run_command({"plan", "512", "512", k, "--dtype", "e4m3", "--promote", promote});
    EXPECT_EQ(r.out.find("hint       sums of 8-bit floats are never promoted") != std::string::npos,
              told)
        << r.out;
  }
}

TEST(PlanCommand, EpiloguesAndBatches) {
  auto const gated =
      run_command({"plan", "4096", "8192", "4096", "--epilogue", "swiglu", "--json"}).json();
  EXPECT_EQ(gated["epilogue"], "swiglu");
  EXPECT_NE(gated["chosen"]["kernel"].get<std::string>().find("_gate"), std::string::npos);
  auto const some = run_command({"plan", "1024", "1024", "512", "--batch", "64", "--json"}).json();
  auto const more = run_command({"plan", "1024", "1024", "512", "--batch", "128", "--json"}).json();
  ASSERT_EQ(some["chosen"]["kernel"], more["chosen"]["kernel"]);
  EXPECT_NEAR(more["chosen"]["terms_us"]["tensor"].get<double>(),
              2 * some["chosen"]["terms_us"]["tensor"].get<double>(), 1e-6);
  EXPECT_EQ(run_command({"plan", "16", "16", "16", "--epilogue", "polish"}).status, 2);
}

TEST(PlanCommand, StridesOfABatchFollowFromThePitches) {
  for (char const* name : {"--lda", "--ldb", "--ldd"}) {
    auto const r = run_command({"plan", "512", "96", "512", "--batch", "4", name, "520", "--json"});
    EXPECT_EQ(r.status, 0) << name << r.err;
    EXPECT_EQ(r.json()["chosen"]["terms_us"]["copies"], 0.0);
    for (char const* pitch : {"9223372036854775800", "4611686018427387904", "288230376151711744"}) {
      auto const far = run_command({"plan", "64", "64", "64", "--batch", "2", name, pitch});
      EXPECT_EQ(far.status, 2) << name << pitch;
      EXPECT_EQ(far.err.rfind("tilewright: TW0403: size of ", 0), 0U) << far.err;
    }
  }
}

TEST(PlanCommand, EpiloguesInBothSpellings) {
  auto const plans = [](char const* epilogue) {
    auto const r =
        run_command({"plan", "512", "512", "512", "--top", "0", "--json", "--epilogue", epilogue});
    EXPECT_EQ(r.status, 0) << r.err;
    return r.json()["plans"].dump();
  };
  std::string const interleaved = plans("swiglu_interleaved");
  EXPECT_EQ(plans("swiglu:interleaved"), interleaved);
  EXPECT_EQ(plans("reglu:interleaved"), interleaved);
  EXPECT_EQ(plans("swiglu:split"), plans("swiglu"));
  EXPECT_EQ(plans("gelu-erf"), plans("gelu_erf"));
  for (char const* wrong :
       {"split", "reglu_swiglu", "swiglu:split:split", "gelu:interleaved", "bilinear_gelu",
        "gelu_bilinear", "bilinear_reglu", "reglu_gelu", "bias_", "_bias", "bias__relu", "-"})
    EXPECT_EQ(run_command({"plan", "16", "16", "16", "--epilogue", wrong}).status, 2) << wrong;
}

TEST(PlanCommand, AColumnMajorDAndC) {
  auto const by_columns =
      run_command({"plan", "4096", "64", "1024", "--d-order", "col", "--json"}).json();
  EXPECT_EQ(by_columns["d_order"], "col");
  auto const transposed = run_command({"plan", "64", "4096", "1024", "--json"}).json();
  EXPECT_EQ(by_columns["chosen"]["kernel"], transposed["chosen"]["kernel"]);
  EXPECT_NE(by_columns["chosen"]["swapped"], transposed["chosen"]["swapped"]);
  auto const added = run_command({"plan", "4096", "4096", "128", "--beta-c", "--json"}).json();
  EXPECT_EQ(added["c"], true);
  EXPECT_EQ(run_command({"plan", "64", "64", "64", "--beta-c", "--epilogue", "swiglu", "--json"})
                .json()["error"]["code"],
            "TW0413");
}

TEST(PlanCommand, OneMatrixIsAdded) {
  for (char const* epilogue : {"residual", "bias_residual", "swiglu_residual"}) {
    auto const r =
        run_command({"plan", "64", "64", "64", "--beta-c", "--epilogue", epilogue, "--json"});
    EXPECT_EQ(r.status, 2) << epilogue;
    EXPECT_EQ(r.json()["error"]["code"], "TW0615") << r.err;
    EXPECT_NE(r.err.find("--beta-c and an epilogue with residual"), std::string::npos) << r.err;
    EXPECT_EQ(run_command({"plan", "64", "64", "64", "--epilogue", epilogue}).status, 0);
  }
}

TEST(PlanCommand, AWorkspaceThatDoesNotSufficeIsSaid) {
  auto const r = run_command({"plan", "65", "65", "65", "--workspace", "0"});
  EXPECT_NE(r.out.find("a launch with 0 is refused (TW0410)"), std::string::npos) << r.out;
  auto const enough = run_command({"plan", "65", "65", "65"});
  EXPECT_EQ(enough.out.find("TW0410"), std::string::npos) << enough.out;
  EXPECT_EQ(run_command({"plan", "65", "65", "65", "--workspace", "0", "--json"})
                .json()["workspace_suffices"],
            false);
}

TEST(PlanCommand, OneIsNotPlural) {
  auto const r = run_command(
      {"plan", "16", "16", "64", "--ab", "f16", "--d", "bf16", "--layout", "TT", "--top", "1"});
  EXPECT_NE(r.out.find(" on 1 cluster, of "), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("1 clusters"), std::string::npos) << r.out;
}

TEST(PlanCommand, RefusesInvalidProblems) {
  auto const zero = run_command({"plan", "0", "4096", "4096"});
  EXPECT_EQ(zero.status, 2);
  EXPECT_EQ(zero.err.rfind("tilewright: TW0803", 0), 0U) << zero.err;
  auto const pitch = run_command({"plan", "16", "16", "16", "--lda", "8", "--json"});
  EXPECT_EQ(pitch.status, 2);
  EXPECT_EQ(pitch.json()["error"]["code"], "TW0402");
  EXPECT_EQ(run_command({"plan", "16", "16"}).status, 2);
  EXPECT_EQ(run_command({"plan", "16", "16", "16", "--ab", "fp7"}).status, 2);
}

/// Groups of K have a D and a C each.
TEST(Ceilings, BytesAreOfTheMatricesOfAllGroups) {
  constexpr std::int64_t m = 64, n = 96, k = 1000, groups = 5;
  tw::gemm_problem p{m,
                     n,
                     k,
                     {tw::elem::bf16, tw::order::col_major, m},
                     {tw::elem::bf16, tw::order::row_major, n},
                     {tw::elem::f32, tw::order::row_major, n, m * n}};
  p.groups = tw::group_desc{.axis = tw::group_axis::k, .count = groups};
  auto const bytes = [&] { return tw::rates_of(p, 1e-3, tw::known_device("h200")).gb_per_s; };
  double const operands = (m + n) * k * 2, results = m * n * groups * 4;
  EXPECT_DOUBLE_EQ(bytes(), operands + results);
  p.c = p.d, p.beta = 1;
  EXPECT_DOUBLE_EQ(bytes(), operands + 2 * results);
  p.beta = 0;
  EXPECT_DOUBLE_EQ(bytes(), operands + results);
}

}  // namespace
