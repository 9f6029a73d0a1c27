// SPDX-License-Identifier: Apache-2.0
// explain_command_test.cpp  tilewright explain KEY=VALUE...: text, JSON, statuses and refusals.
#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

std::vector<std::string> const article{"explain",         "tile=192x192", "mma=m64n96k16",
                                       "warpgroups=2",    "smem=SW128",   "dtype=f16",
                                       "copy=stmatrix.x4"};

TEST(ExplainCommand, AnswersTheArticlesCase) {
  auto const r = run_command(article);
  EXPECT_EQ(r.status, 0) << "no is an answer";
  EXPECT_EQ(r.out, read_file(std::string(TW_SOURCE_DIR) + "/tests/atom/explain_article.txt"));
  EXPECT_EQ(r.err, "");
}

TEST(ExplainCommand, SaysTheSameAsJson) {
  auto words = article;
  words.push_back("--json");
  auto const j = run_command(words).json();
  EXPECT_EQ(j["works"], false);
  EXPECT_EQ(j["refusal"]["code"], "TW0104");
  EXPECT_LE(j["geometry"].size(), 10U);
  bool found = false;
  for (auto const& a : j["alternatives"]) {
    if (a["change"] != "smem=SW64") continue;
    found = true;
    EXPECT_EQ(a["works"], true);
    EXPECT_EQ(a["cost"]["copies"], 18);
    EXPECT_EQ(a["cost"]["wavefronts"], a["cost"]["ideal_wavefronts"]);
    EXPECT_EQ(a["cost"]["sums"], 144);
  }
  EXPECT_TRUE(found);
  // The refused operation is one that `tilewright layout` refuses too.
  auto const again = run_command({"layout", j["operation"].get<std::string>()});
  EXPECT_EQ(again.status, 2);
  EXPECT_EQ(again.err.rfind("tilewright: TW0104", 0), 0U) << again.err;
}

TEST(ExplainCommand, AnswersSm80AsJson) {
  auto const j = run_command({"explain", "arch=sm80", "operand=B", "major=n", "tile=128x64",
                              "copy=cp.async.128", "--json"})
                     .json();
  EXPECT_EQ(j["works"], true);
  EXPECT_EQ(j["memory"], "Sw<3,3,3> o 0 o ((64,2),(8,8)):((1,4096),(64,512))");
  EXPECT_EQ(j["accesses"][0]["ldmatrix_wavefronts"], j["accesses"][0]["ldmatrix_ideal"]);
}

TEST(ExplainCommand, CodesAsJson) {
  auto const j = run_command({"explain", "TW0104", "--json"}).json();
  EXPECT_EQ(j["code"], "TW0104");
  EXPECT_NE(j["text"].get<std::string>().find("## Meaning"), std::string::npos);
}

TEST(ExplainCommand, ReadsTheWordsOfCutlass) {
  std::vector<std::string> const ours{
      "explain",          "tile=192x192", "mma=m64n96k16", "warpgroups=2",
      "copy=stmatrix.x4", "smem=SW128",   "dtype=f16",     "--json"};
  std::vector<std::string> theirs = ours;
  theirs[4] = "copy=SM90_U32x4_STSM_N";
  theirs[5] = "smem=GMMA::Layout_K_SW128_Atom<half_t>";
  theirs[6] = "dtype=cutlass::half_t";
  theirs.insert(theirs.begin() + 1, "arch=sm90");
  EXPECT_EQ(run_command(theirs).out, run_command(ours).out);
  theirs[6] = "smem=Layout_K_SW64_Atom";
  std::vector<std::string> sw64 = ours;
  sw64[5] = "smem=SW64";
  EXPECT_EQ(run_command(theirs).out, run_command(sw64).out);
  EXPECT_NE(run_command(sw64).out, run_command(ours).out);
}

TEST(ExplainCommand, Refuses) {
  auto const refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), "explain");
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.out, "");
    return r.err.substr(0, r.err.find(':', 12));
  };
  EXPECT_EQ(refusal({"TW0104", "tile=192x192"}), "tilewright: TW0618");
  EXPECT_EQ(refusal({"TW0104", "TW0105"}), "tilewright: TW0618");
  EXPECT_EQ(refusal({"tile=192x192", "colour=red"}), "tilewright: TW0250");
  EXPECT_EQ(refusal({"tile=192"}), "tilewright: TW0251");
  EXPECT_EQ(refusal({"mma=m64n96k16"}), "tilewright: TW0252");
}

}  // namespace
