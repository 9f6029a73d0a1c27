// SPDX-License-Identifier: Apache-2.0
// plan_scales_test.cpp  tilewright plan with scales of A, B and D: what is planned, which kernel
//                       computes scales of D, and that they are part of the predicted time.
#include "tests/tools/command.hpp"

namespace {

using namespace tw_test;

std::vector<std::string> plan(std::vector<std::string> words) {
  words.insert(words.begin(), {"plan", "--all-kernels", "--top", "1"});
  return words;
}
std::string text(std::vector<std::string> words) {
  auto const r = run_command(plan(std::move(words)));
  EXPECT_EQ(r.status, 0) << r.err;
  return r.out;
}
nlohmann::json plan_json(std::vector<std::string> words) {
  words.emplace_back("--json");
  return run_command(plan(std::move(words))).json();
}
bool has(std::string const& all, std::string const& part) {
  return all.find(part) != std::string::npos;
}

TEST(PlanScales, ScalesOfDAreByTheSameKernelOrASecond) {
  std::vector<std::string> const fp8{"4096x4096x4096", "--dtype", "e4m3", "--scale-d"};
  auto const with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), fp8.begin(), fp8.end());
    return more;
  };
  std::string const blocks = text(with({"amax-1x128"}));
  EXPECT_TRUE(has(blocks, "scale D    1x128 f32 (torch BlockWise1x128")) << blocks;
  EXPECT_TRUE(has(blocks, "; by the same kernel")) << blocks;
  EXPECT_TRUE(has(blocks, "e4m3 to e4m3")) << blocks;
  EXPECT_TRUE(has(text(with({"0.5"})), "scale D    given; by the same kernel"));
  EXPECT_TRUE(has(text(with({"amax-1x128", "--epilogue", "swiglu"})), "by the same kernel"));
  std::string const rows = text(with({"amax-row"}));
  EXPECT_TRUE(has(rows, "; D in float32 first, then a second kernel, ")) << rows;
  EXPECT_TRUE(has(rows, "hint       D: no kernel computes these scales")) << rows;

  // A kernel computes these scales, but two launches are predicted to be faster.
  std::vector<std::string> const gate{"512x1024x1024", "--dtype",   "e4m3",      "--epilogue",
                                      "swiglu_split",  "--scale-d", "amax-1x128"};
  std::string const split = text(gate);
  EXPECT_TRUE(has(split, "; D in float32 first, then a second kernel, ")) << split;
  EXPECT_FALSE(has(split, "no kernel computes")) << split;
  EXPECT_TRUE(has(split, "_gate_quantize_p128, which computes these scales too, is predicted"))
      << split;

  auto const one = plan_json(with({"amax-1x128", "--scale-d-as", "deepgemm"}));
  EXPECT_TRUE(has(one["scale_d"], "1x128 f32"));
  EXPECT_TRUE(one["chosen"]["quantised_by_second_launch_us"].is_null());
  auto const two = plan_json(with({"amax-row"}));
  double const second = two["chosen"]["quantised_by_second_launch_us"];
  EXPECT_GT(second, 1);
  EXPECT_GT(two["chosen"]["predicted"]["us"].get<double>(),
            one["chosen"]["predicted"]["us"].get<double>());
  EXPECT_GT(one["chosen"]["predicted"]["us"].get<double>(),
            plan_json(with({"given"}))["chosen"]["predicted"]["us"].get<double>());
}

TEST(PlanScales, SmallMIsQuantisedBySwapAb) {
  auto const p = plan_json({"16x16384x1024", "--dtype", "e4m3", "--scale-d", "amax-1x128"});
  std::string const kernel = p["chosen"]["kernel"];
  EXPECT_TRUE(has(kernel, "_dm_128x16")) << kernel;
  EXPECT_TRUE(has(kernel, "_quantize_p128")) << kernel;
  EXPECT_EQ(p["chosen"]["swapped"], true);
  // Four UE8M0 in an int32 lie along columns, which are rows of that kernel.
  EXPECT_FALSE(has(plan_json({"16x16384x1024", "--dtype", "e4m3", "--scale-d", "amax-1x128",
                              "--scale-d-as", "deepgemm", "--scale-d-type", "ue8m0x4",
                              "--scale-d-power-of-two"})["chosen"]["kernel"],
                   "_dm_"));
}

TEST(PlanScales, TheTypeOfDIsThatOfGemm) {
  EXPECT_EQ(plan_json({"64x64x64", "--dtype", "s8", "--scale-d", "given"})["d"], "s8");
  EXPECT_EQ(plan_json({"64x64x64", "--dtype", "bf16", "--scale-d", "given"})["d"], "e4m3");
  EXPECT_EQ(
      plan_json({"64x64x64", "--dtype", "e4m3", "--scale-d", "given", "--out-dtype", "e5m2"})["d"],
      "e5m2");
}

TEST(PlanScales, RefusesWhatGemmRefuses) {
  auto const err = [](std::vector<std::string> words) {
    auto const r = run_command(plan(std::move(words)));
    EXPECT_EQ(r.status, 2) << r.out;
    return r.err;
  };
  EXPECT_TRUE(has(err({"64x64x64", "--dtype", "e4m3", "--scale-d", "amx-row"}),
                  "amx-row: need amax-row, amax-1x128, given or a number"));
  EXPECT_TRUE(has(
      err({"64x64x64", "--dtype", "e4m3", "--scale-d", "amax-1x128", "--scale-d-type", "ue8m0"}),
      "TW0458"));
  EXPECT_TRUE(has(err({"64x64x64", "--dtype", "e4m3", "--scale-d", "given", "--out-dtype", "bf16"}),
                  "TW0405"));
  EXPECT_TRUE(has(err({"64x64x64", "--dtype", "e4m3", "--out-dtype", "s8"}), "--scale-d"));
}

/// Block scales are part of the prediction, and of the price of promotion that plan shows.
TEST(PlanScales, ScalesOfAAndBArePartOfThePrediction) {
  std::vector<std::string> const size{"4096x4096x4096", "--dtype", "e4m3"};
  std::vector<std::string> blocks = size;
  blocks.insert(blocks.end(), {"--scale-a", "1x128", "--scale-b", "128x128"});
  std::string const scaled = text(blocks);
  EXPECT_TRUE(has(scaled, "sums       promoted to float32 every 128 of K, times the scales: "))
      << scaled;
  double const us = plan_json(blocks)["chosen"]["predicted"]["us"];
  EXPECT_GT(us, plan_json(size)["chosen"]["predicted"]["us"].get<double>());
  blocks.insert(blocks.end(), {"--promote", "64"});
  auto const often = plan_json(blocks);
  EXPECT_TRUE(has(often["chosen"]["kernel"], "_scaled64"));
  EXPECT_GT(often["chosen"]["predicted"]["us"].get<double>(), us);
  EXPECT_GT(often["chosen"]["predicted"]["us"].get<double>(),
            often["sums"]["never_promoted_us"].get<double>());
}

TEST(PlanScales, AdditionsOfBlackwellsKernelsAreATermAndAColumn) {
  std::vector<std::string> const words{"4096x4096x4096", "--dtype",  "e4m3", "--d",
                                       "bf16",           "--device", "b200", "--scale-a",
                                       "1x128",          "--scale-b"};
  auto const with = [&](char const* scale_b) {
    auto w = words;
    w.emplace_back(scale_b);
    return w;
  };
  auto const plan = plan_json(with("1x128"));
  auto const t = [&](char const* term) { return plan["chosen"]["terms_us"][term].get<double>(); };
  EXPECT_GT(t("additions"), 0);
  EXPECT_GT(plan["chosen"]["predicted"]["us"].get<double>(),
            t("tensor") + t("idle") + t("additions"));
  std::string const page = text(with("1x128"));
  EXPECT_TRUE(has(page, " adds ")) << page;
  EXPECT_TRUE(has(page, "in which the tensor cores wait for the additions")) << page;
  // One scale for all columns of a tile: the additions are done beside the multiplies, which lose
  // as much as before.
  auto const beside = plan_json(with("128x128"))["chosen"]["terms_us"];
  EXPECT_EQ(beside["additions"], 0.0);
  EXPECT_NEAR(beside["idle"].get<double>(), t("idle"), 0.2 * t("idle"));
  EXPECT_FALSE(has(text(with("128x128")), " adds "));
  std::string const plain =
      text({"4096x4096x4096", "--dtype", "e4m3", "--d", "bf16", "--device", "b200"});
  EXPECT_FALSE(has(plain, " adds ")) << plain;
}

/// Each group has other scales, (G, M) or (G, N), which the epilogue multiplies.
TEST(PlanScales, RowScalesOfGroupsAreInTheEpilogue) {
  for (std::string const axis : {"m", "k"}) {
    auto const kernel = [&](std::string const& scaling) {
      auto const p = plan_json({"4096x4096x4096", "--dtype", "e4m3", "--groups", "8",
                                "--group-axis", axis, "--scale-a", scaling, "--scale-b", scaling});
      return p["chosen"]["kernel"].get<std::string>();
    };
    EXPECT_FALSE(has(kernel("row"), "scaled")) << axis << ": " << kernel("row");
    EXPECT_FALSE(has(kernel("tensor"), "scaled")) << axis << ": " << kernel("tensor");
    EXPECT_TRUE(has(kernel("1x128"), "scaled")) << axis << ": " << kernel("1x128");
  }
}

}  // namespace
