// SPDX-License-Identifier: Apache-2.0
// explain_kernel_command_test.cpp  tilewright explain KERNEL: the columns of tensor memory of every
//                                  Blackwell kernel, the text of the page, refusals.
#include <set>

#include "tests/tools/command.hpp"
#include "tilewright/atom/tmem_layout.hpp"
#include "tools/command/explain/kernel_explanation.hpp"
#include "tools/report/tmem_names.hpp"

namespace {

using namespace tw;
using namespace tw_test;

bool begins_with_accumulator(tensor_part const& p) { return p.content.starts_with("accumulator"); }

TEST(ExplainKernel, ColumnsOfEveryBlackwellKernelAreDividedWithoutOverlap) {
  int kernels = 0, scaled = 0;
  for (std::string const& name : kernel_names()) {
    kernel_explanation const e = explain_kernel(name).value();
    if (e.memory.parts.empty()) continue;
    ++kernels;
    int next = 0, accumulators = 0;
    for (tensor_part const& p : e.memory.parts) {
      EXPECT_EQ(p.first, next) << name;
      next += p.columns;
      if (begins_with_accumulator(p)) ++accumulators;
    }
    EXPECT_EQ(next, e.cta.tensor_columns) << name;
    EXPECT_GE(accumulators, 1) << name;
    if (name.starts_with("sm100_") && e.family == "sm100_gemm") {
      EXPECT_EQ(accumulators, name.find("_scaled") != name.npos ? 3 : 2) << name;
    }
    // The pictures that it names exist, and an accumulator is as wide as the first of them.
    for (std::string const& picture : e.memory.pictures)
      EXPECT_NO_THROW(parse_tmem(picture)) << name;
    EXPECT_EQ(columns_of(parse_tmem(e.memory.pictures[0])), e.memory.parts[0].columns) << name;
    // Every warp of the epilogue has its own lanes, the quarter of its number.
    int lanes = 0;
    for (tensor_user const& u : e.memory.users) {
      if (u.lanes == 128) continue;
      lanes += u.lanes;
      EXPECT_EQ(u.first_lane, u.warp % 4 * 32) << name;
    }
    EXPECT_EQ(lanes, 128) << name;
    if (e.memory.steps.empty()) continue;
    ++scaled;
    tensor_part const& a = e.memory.parts[static_cast<std::size_t>(accumulators)];
    tensor_part const& b = e.memory.parts[static_cast<std::size_t>(accumulators) + 1];
    std::set<std::pair<int, int>> taken;
    ASSERT_EQ(e.memory.steps.size(), 4U) << name;
    for (scale_step const& s : e.memory.steps) {
      EXPECT_GE(s.a_column, a.first) << name;
      EXPECT_LE(s.a_column + s.a_columns, a.first + a.columns) << name;
      EXPECT_GE(s.b_column, b.first) << name;
      EXPECT_LE(s.b_column + s.b_columns, b.first + b.columns) << name;
      EXPECT_EQ(s.a_columns, columns_of(parse_tmem(e.memory.pictures[1]))) << name;
      EXPECT_EQ(s.b_columns, columns_of(parse_tmem(e.memory.pictures[2]))) << name;
      EXPECT_TRUE(taken.insert({s.a_column, s.id}).second) << name;
    }
  }
  EXPECT_GT(kernels, 50);
  EXPECT_GT(scaled, 20);
}

TEST(ExplainKernel, PrintsTheExampleOfThePage) {
  std::string const name = "sm100_nvfp4_bf16_tn_256x192x256_2cta_s5";
  auto const r = run_command({"explain", name});
  EXPECT_EQ(r.status, 0) << r.err;
  std::string const page = read_file(TW_SOURCE_DIR "/docs/explain.md");
  EXPECT_NE(page.find("$ tilewright explain " + name + "\n" + r.out), std::string::npos) << r.out;
}

TEST(ExplainKernel, SaysTheSameAsJson) {
  auto const j =
      run_command({"explain", "sm100_mxfp8_bf16_tn_128x64x128_1cta_s6", "--json"}).json();
  EXPECT_EQ(j["tensor_columns"], 256);
  EXPECT_EQ(j["tensor_memory"][2]["first_column"], 128);
  EXPECT_EQ(j["scale_factors"][3]["id"], 3);
  EXPECT_EQ(j["scale_factors"][3]["a_column"], 128);
  EXPECT_EQ(j["warps"][1]["first_lane"], 64);
  auto const hopper =
      run_command({"explain", "sm90_bf16_bf16_tn_128x256x64_2x1_s4", "--json"}).json();
  EXPECT_EQ(hopper["tensor_columns"], 0);
  EXPECT_EQ(hopper["stage_bytes"], 49152);
}

TEST(ExplainKernel, RefusesKernelsThatDoNotExist) {
  auto const r = run_command({"explain", "sm100_nvfp4_bf16_tn_256x192x256_2cta_s4"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err.rfind("tilewright: TW0652", 0), 0U) << r.err;
  EXPECT_NE(r.err.find("2cta_s5"), std::string::npos) << "the closest name: " << r.err;
}

}  // namespace
