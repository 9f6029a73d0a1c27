// SPDX-License-Identifier: Apache-2.0
// report_test.cpp  The table and the JSON of measured, wrong, failed and unsupported shapes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tools/command/bench/gemm_csv.hpp"
#include "tools/command/bench/gemm_json.hpp"
#include "tools/command/bench/gemm_table.hpp"
#include "tools/measure/shapes.hpp"

namespace tw::bench {
namespace {

gemm_shape shape(std::string const& name, std::string const& category,
                 std::string const& dtype = "bf16") {
  nlohmann::json const entry = {{"name", name}, {"category", category}, {"m", 100},      {"n", 100},
                                {"k", 100},     {"dtype", dtype},       {"layout", "TN"}};
  return parse_shapes(nlohmann::json::array({entry}).dump(), "test").at(0);
}

std::vector<sample> samples(double us) {
  std::vector<sample> list(3);
  for (auto& s : list) s.us = us;
  list[0].us = us / 2;
  list[2].us = us * 2;
  return list;
}

/// Ours in `ours_us`, the heuristic in 10 us; tuning found nothing better.
shape_result measured(std::string const& name, std::string const& category, double ours_us) {
  shape_result r;
  r.shape = shape(name, category);
  r.state = outcome::measured;
  provider_result ours, heuristic, tuned;
  ours.provider = "tilewright";
  ours.kernel = "our_kernel";
  ours.check.passed = ours.repeatable = true;
  ours.bursts = samples(ours_us);
  heuristic.provider = "cublaslt_heuristic";
  heuristic.bursts = samples(10);
  tuned.provider = "cublaslt_tuned";
  tuned.same_as = "cublaslt_heuristic";
  r.providers = {ours, heuristic, tuned};
  return r;
}

std::vector<std::string> words(std::string const& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Report, RatioIsBaselineTimeOverOurs) {
  auto const r = measured("s", "c", 8);
  EXPECT_NEAR(speed_ratio(r, "cublaslt_heuristic", &provider_result::bursts), 1.25, 1e-12);
  EXPECT_NEAR(speed_ratio(r, "cublaslt_tuned", &provider_result::bursts), 1.25, 1e-12);
  EXPECT_TRUE(std::isnan(speed_ratio(r, "cublaslt_tuned", &provider_result::windows)));
  EXPECT_TRUE(std::isnan(speed_ratio(r, "somebody", &provider_result::bursts)));
}

TEST(Report, ARowHasOneCellPerColumn) {
  auto const columns = gemm_columns({shape("s", "c")});
  auto const row = words(gemm_rows(columns, measured("s", "c", 8)));
  ASSERT_EQ(row.size(), columns.size());
  EXPECT_EQ(row[0], "s");
  EXPECT_EQ(row[6], "burst");
  EXPECT_EQ(row[7], "8.00");
  EXPECT_EQ(row[8], "0.2");  // 2e6 flop in 8 us
  EXPECT_EQ(row[10], "1.250");
  EXPECT_EQ(row[12], "-");  // no clock was read
  EXPECT_EQ(row.back(), "our_kernel");
}

TEST(Report, CellsStandUnderTheirTitles) {
  auto const columns = gemm_columns({shape("a_long_name", "c"), shape("s", "c")});
  std::string const head = table_head(columns);
  std::string const row = gemm_rows(columns, measured("s", "c", 8));
  auto const kernel = head.find("kernel");
  ASSERT_NE(kernel, std::string::npos);
  EXPECT_EQ(row.find("our_kernel"), kernel);
}

TEST(Report, AWrongResultIsNotHidden) {
  auto wrong = measured("s", "c", 8), unstable = wrong;
  wrong.providers[0].check.passed = false;
  unstable.providers[0].repeatable = false;
  auto const columns = gemm_columns({wrong.shape});
  EXPECT_NE(gemm_rows(columns, wrong).find("WRONG"), std::string::npos);
  EXPECT_NE(gemm_rows(columns, unstable).find("UNSTABLE"), std::string::npos);
  EXPECT_FALSE(is_right(wrong) || is_right(unstable));
  EXPECT_EQ(gemm_summary({wrong, unstable}), "");  // they earn no mean
}

TEST(Report, UnsupportedAndFailedShapesGiveTheirReason) {
  shape_result unsupported, failed;
  unsupported.shape = shape("u", "c", "bf16");
  unsupported.shape.epilogue = "softmax";
  unsupported.state = outcome::unsupported;
  unsupported.reason = why_unsupported(unsupported.shape).value();
  failed.shape = shape("f", "c");
  failed.reason = "TW0714: device memory: got too little";
  auto const columns = gemm_columns({unsupported.shape, failed.shape});
  EXPECT_NE(gemm_rows(columns, unsupported).find("epilogue softmax"), std::string::npos);
  EXPECT_NE(gemm_rows(columns, failed).find("FAILED: TW0714"), std::string::npos);
  auto const json = to_json(unsupported, 132);
  EXPECT_EQ(json["state"], "unsupported");
  EXPECT_EQ(json["reason"], unsupported.reason);
  EXPECT_EQ(json["name"], "u");
  EXPECT_EQ(to_json(failed, 132)["state"], "failed");
}

TEST(Report, MeansArePerCategory) {
  std::string const summary =
      gemm_summary({measured("a", "x", 5), measured("b", "x", 20), measured("c", "y", 10.5)});
  std::istringstream lines(summary);
  std::vector<std::vector<std::string>> heuristic;
  for (std::string line; std::getline(lines, line);)
    if (line.find("cublaslt_heuristic") != std::string::npos) heuristic.push_back(words(line));
  ASSERT_EQ(heuristic.size(), 3U);  // x, y, all
  EXPECT_EQ(heuristic[0], (std::vector<std::string>{"x", "2", "burst", "cublaslt_heuristic",
                                                    "1.000", "0.500", "1"}));
  EXPECT_EQ(heuristic[1][4], "0.952");
  EXPECT_EQ(heuristic[1][6], "1");  // lost by more than 2 %
  EXPECT_EQ(heuristic[2][1], "3");
}

TEST(Report, DependentLaunchesAreSetBesideOurTime) {
  shape_result r = measured("x", "decode", 8);
  EXPECT_EQ(gemm_summary({r}).find("tilewright_pdl"), std::string::npos);
  provider_result pdl = r.providers[0];
  pdl.provider = "tilewright_pdl";
  pdl.bursts = samples(6);
  r.providers.push_back(pdl);
  std::string const rows = gemm_rows(gemm_columns({r.shape}), r);
  EXPECT_NE(rows.find("tilewright_pdl: 6.00 us, 0.7500 of our time above"), std::string::npos)
      << rows;
  EXPECT_NE(gemm_summary({r}).find("tilewright_pdl        0.750"), std::string::npos)
      << gemm_summary({r});
}

TEST(Report, DeepGemmHasAColumnIfItWasRequested) {
  shape_result r = measured("s", "c", 8), none = r;
  provider_result theirs = r.providers[1];
  theirs.provider = "deepgemm";
  theirs.bursts = samples(12);
  theirs.check.passed = true;
  r.providers.push_back(theirs);
  r.deepgemm = {{"128x128", 12}};
  none.reason = "no DeepGEMM: it multiplies e4m3 alone";
  auto const columns = gemm_columns({r.shape}, true);
  auto const row = words(gemm_rows(columns, r));
  ASSERT_EQ(row.size(), columns.size());
  EXPECT_EQ(row[11], "1.250");
  EXPECT_EQ(row[12], "1.500");
  EXPECT_EQ(columns[12].title, "/deepg");
  EXPECT_EQ(words(gemm_rows(columns, none)).at(12), "-");
  EXPECT_NE(gemm_rows(columns, none).find(none.reason), std::string::npos);
  EXPECT_NE(gemm_summary({r}).find("deepgemm              1.500"), std::string::npos)
      << gemm_summary({r});
  auto const json = to_json(r, 132);
  EXPECT_NEAR(json["ratio"]["burst"]["deepgemm"].get<double>(), 1.5, 1e-12);
  EXPECT_EQ(json["deepgemm"][0]["kernel"], "128x128");
  EXPECT_TRUE(csv_rows(r).ends_with(",our_kernel,1.5\n")) << csv_rows(r);
  r.providers.back().check.passed = false;
  EXPECT_EQ(words(gemm_rows(columns, r)).at(12), "WRONG");
}

TEST(Report, JsonKeepsEverySample) {
  auto const json = to_json(measured("s", "c", 8), 132);
  auto const& burst = json["providers"][0]["burst"];
  EXPECT_EQ(burst["samples"].size(), 3U);
  EXPECT_EQ(burst["us"]["median"], 8);
  EXPECT_EQ(burst["us"]["min"], 4);
  EXPECT_EQ(burst["us"]["max"], 16);
  EXPECT_NEAR(burst["tflops"].get<double>(), 0.25, 1e-12);
  EXPECT_NEAR(burst["gb_per_s"].get<double>(), 60000 / 8e3, 1e-12);
  EXPECT_NEAR(json["ratio"]["burst"]["cublaslt_tuned"].get<double>(), 1.25, 1e-12);
  EXPECT_EQ(json["providers"][2]["same_as"], "cublaslt_heuristic");
  EXPECT_NE(json.dump().find("\"power_w\":null"), std::string::npos);  // not measured
}

/// The fields of each line, by RFC 4180.
std::vector<std::vector<std::string>> parsed_csv(std::string const& text) {
  std::vector<std::vector<std::string>> lines{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (quoted && c == '"' && text[i + 1] == '"')
      lines.back().back() += text[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == ',')
      lines.back().emplace_back();
    else if (!quoted && c == '\n')
      lines.push_back({""});
    else
      lines.back().back() += c;
  }
  lines.pop_back();  // after the last line's end
  return lines;
}

TEST(Report, CsvHasALinePerShapeAndModeAndAFieldPerColumn) {
  auto both = measured("64x64x64", "sizes", 8);
  both.providers[0].windows = samples(9);
  auto odd = measured("a, \"b\"", "c", 4);
  shape_result failed{};
  failed.shape = shape("f", "c");
  failed.state = outcome::failed;
  failed.reason = "TW0507, memory";
  shape_result unsupported = failed;
  unsupported.state = outcome::unsupported;
  std::string text = csv_head();
  for (shape_result const& r : {both, odd, failed, unsupported}) text += csv_rows(r);
  auto const lines = parsed_csv(text);
  ASSERT_EQ(lines.size(), 6U) << text;
  for (auto const& line : lines) EXPECT_EQ(line.size(), lines[0].size()) << text;
  auto const field = [&](std::size_t line, std::string const& title) {
    auto const at = std::ranges::find(lines[0], title);
    EXPECT_NE(at, lines[0].end()) << title;
    return lines[line][static_cast<std::size_t>(at - lines[0].begin())];
  };
  EXPECT_EQ(field(1, "mode"), "burst");
  EXPECT_EQ(field(1, "us"), "8");
  EXPECT_EQ(field(1, "cublaslt_heuristic_ratio"), "1.25");
  EXPECT_EQ(field(1, "sm_mhz"), "") << "no clock was read";
  EXPECT_EQ(field(1, "state"), "right");
  EXPECT_EQ(field(1, "kernel"), "our_kernel");
  EXPECT_EQ(field(2, "mode"), "sustained");
  EXPECT_EQ(field(2, "us"), "9");
  EXPECT_EQ(field(3, "name"), "a, \"b\"");
  EXPECT_EQ(field(4, "state"), "failed: TW0507, memory");
  EXPECT_EQ(field(4, "us"), "");
  EXPECT_EQ(field(5, "state"), "unsupported: TW0507, memory");
}

TEST(Report, EnergyAndUtilisationFollowFromTheirParts) {
  work const w = {1e12, 0, 132 * 4096.0};
  EXPECT_NEAR(tflops(w, 1250), 800, 1e-9);
  EXPECT_NEAR(joule_per_tflop(w, 1250, 700), 0.875, 1e-12);  // 700 W / 800 TFLOP/s
  EXPECT_NEAR(utilisation(w, 1250, 1600), 800 / (132 * 4096 * 1.6e-3), 1e-9);
}

TEST(Codes, EveryCodeOfTheBenchmarkHasAPage) {
  std::ifstream file(TW_SOURCE_DIR "/docs/errors/TW07.md");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  for (char const* code : {"TW0701", "TW0702", "TW0703", "TW0704", "TW0705", "TW0710", "TW0711",
                           "TW0712", "TW0713", "TW0714", "TW0716"})
    EXPECT_NE(text.find("\n## " + std::string(code) + "\n"), std::string::npos) << code;
}

}  // namespace
}  // namespace tw::bench
