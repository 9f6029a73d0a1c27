// SPDX-License-Identifier: Apache-2.0
// roofline_command_test.cpp  tilewright roofline: bytes, intensities, ridge points, the plot.
#include "tests/tools/command.hpp"
#include "tools/command/roofline/ceiling_table.hpp"
#include "tools/command/roofline/roofline.hpp"

namespace {

using namespace tw_test;

nlohmann::json roofline(std::vector<std::string> words) {
  words.insert(words.begin(), "roofline");
  words.emplace_back("--json");
  auto const r = run_command(words);
  EXPECT_EQ(r.status, 0) << r.err;
  return r.json();
}

TEST(RooflineCommand, TheBytesOfALargeSquare) {
  auto const f32 = roofline({"4096", "4096", "4096", "--out-dtype", "f32"});
  EXPECT_EQ(f32["levels"][0]["bytes"], 134217728.0);
  EXPECT_EQ(f32["levels"][0]["flop_per_byte"], 1024.0);
  auto const bf16 = roofline({"4096x4096x4096"});
  EXPECT_EQ(bf16["levels"][0]["bytes"], 100663296.0);
  EXPECT_NEAR(bf16["levels"][0]["flop_per_byte"].get<double>(), 1365.33, 0.01);
  EXPECT_EQ(bf16["bound"], "tensor cores");
  EXPECT_EQ(bf16["flop"], 2.0 * 4096 * 4096 * 4096);
  auto const text = run_command({"roofline", "4096", "4096", "4096", "--out-dtype", "f32"}).out;
  for (char const* const word : {"134.2 MB      1,024", "the tensor cores: compute-bound",
                                 "1,024 FLOP/byte is above the ridge point of DRAM, 208"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
}

TEST(RooflineCommand, TheRidgePointOfTheDataSheets) {
  auto const h100 = roofline({"4096", "4096", "4096", "--device", "h100"});
  EXPECT_NEAR(h100["levels"][0]["ridge_flop_per_byte"]["data_sheet"].get<double>(), 295, 0.5);
  EXPECT_EQ(h100["device"], "h100_sxm");
}

TEST(RooflineCommand, TheLongestLevelBounds) {
  for (tw::device const& d : tw::known_devices())
    for (std::int64_t m : {1, 16, 128, 1024, 8192})
      for (std::int64_t k : {64, 1024, 16384}) {
        tw::roofline const r = tw::roofline_of({.m = m, .n = 4096, .k = k}, d);
        double longest = r.tensor_us;
        for (auto const& level : r.levels)
          if (level.bounds) longest = std::max(longest, level.us);
        EXPECT_EQ(r.min_us(), longest);
        EXPECT_NEAR(r.attainable_tflops() * r.min_us() * 1e6, r.flop, 1e-6 * r.flop);
        // Below the ridge point, and only there, a level takes longer than the tensor cores.
        for (auto const& level : r.levels) {
          double const ridge = level.ridge.measured > 0 ? level.ridge.measured
                               : level.us > 0 ? r.tflops.best() / level.gb_per_s.best() * 1e3
                                              : 0;
          EXPECT_EQ(level.intensity<ridge, level.us> r.tensor_us) << level.name;
        }
      }
}

TEST(RooflineCommand, BytesGrowWithTypesAndBatchesAndShrinkWithTiles) {
  tw::device const& d = tw::known_device("h200");
  auto const bytes = [&](tw::roofline_problem const& p, int level) {
    return tw::roofline_of(p, d).levels[static_cast<std::size_t>(level)].bytes;
  };
  tw::roofline_problem const p{.m = 1000, .n = 2000, .k = 512};
  for (int level = 0; level < 3; ++level) {
    auto more = p;
    more.batch = 3;
    EXPECT_DOUBLE_EQ(bytes(more, level), 3 * bytes(p, level));
    auto narrow = p;
    narrow.ab = tw::elem::e4m3;
    EXPECT_LT(bytes(narrow, level), bytes(p, level));
  }
  auto alone = p;
  alone.cluster_m = 1;
  EXPECT_GT(bytes(alone, 1), bytes(p, 1));
  EXPECT_EQ(bytes(alone, 0), bytes(p, 0));
  // By hand: two clusters along M read B, eight along N read A.
  EXPECT_EQ(bytes({.m = 512, .n = 2048, .k = 64}, 1),
            2.0 * (64 * (512.0 * 8 + 2048.0 * 2) + 512.0 * 2048));
  // Two multiplies of 64 rows read B.
  EXPECT_EQ(bytes({.m = 128, .n = 256, .k = 64}, 2), 2.0 * 64 * (128 + 2 * 256));
}

TEST(RooflineCommand, EachArchitectureReadsByItsOwnInstruction) {
  auto const bytes = [](char const* id, tw::roofline_problem const& p, int level) {
    return tw::roofline_of(p, tw::known_device(id)).levels[static_cast<std::size_t>(level)].bytes;
  };
  tw::roofline_problem pair{.m = 4096, .n = 4096, .k = 64}, alone = pair;
  alone.cluster_m = 1;
  constexpr double mn = 4096.0 * 4096, of_k = 2 * 64;
  // wgmma: 64 rows by 256 columns; tcgen05.mma: 128, and a pair 256; warps of mma.sync: 64 by 64.
  EXPECT_EQ(bytes("h200", alone, 2), of_k * (mn / 256 + mn / 64));
  EXPECT_EQ(bytes("b200", alone, 2), of_k * (mn / 256 + mn / 128));
  EXPECT_EQ(bytes("b200", pair, 2), of_k * (mn / 256 + mn / 256));
  EXPECT_EQ(bytes("a100", pair, 2), of_k * (mn / 64 + mn / 64));
  // An A100 has no clusters: nothing is multicast.
  EXPECT_EQ(bytes("a100", pair, 1), bytes("a100", alone, 1));
  EXPECT_GT(bytes("a100", pair, 1), bytes("h200", pair, 1));
  std::string const a100 = run_command({"roofline", "4096x4096x4096", "--device", "a100"}).out;
  EXPECT_NE(a100.find("128x256 of a CTA, mma.sync"), std::string::npos) << a100;
  EXPECT_EQ(a100.find("cluster"), std::string::npos) << a100;
}

TEST(RooflineCommand, BlockScaledFormatsHaveTheirRateAndTheBytesOfTheirFactors) {
  auto const fp4 = roofline({"4096x4096x4096", "--dtype", "nvfp4", "--device", "b200"});
  EXPECT_EQ(fp4["dtype"], "nvfp4");
  EXPECT_EQ(fp4["out_dtype"], "bf16");
  EXPECT_EQ(fp4["tensor_tflops"]["data_sheet"], 9000.0);
  constexpr double mk = 4096.0 * 4096;
  EXPECT_EQ(fp4["levels"][0]["bytes"], 2 * (mk / 2 + mk / 16) + 2 * mk);
  auto const fp8 = roofline({"4096x4096x4096", "--dtype", "mxfp8", "--device", "b200"});
  EXPECT_EQ(fp8["levels"][0]["bytes"], 2 * (mk + mk / 32) + 2 * mk);
  EXPECT_EQ(fp8["tensor_tflops"]["data_sheet"], 4500.0);
}

TEST(RooflineCommand, TheSmallestProblemHasItsNumbers) {
  std::string const text = run_command({"roofline", "1", "1", "1"}).out;
  EXPECT_NE(text.find("1 x 1 x 1, bf16 to bf16: 2 FLOP"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0.0 "), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0.00\n"), std::string::npos) << text;
}

TEST(RooflineCommand, TheEmbeddedTableNamesKnownDevices) {
  for (tw::device_ceilings const& c : tw::known_ceilings()) {
    EXPECT_NO_THROW(tw::known_device(c.device)) << c.device;
    EXPECT_GT(c.tensor_tflops, tw::known_device(c.device).wgmma_ceiling_tflops);
  }
}

TEST(RooflineCommand, ThePlotIsWholeAndHasThePoints) {
  scratch const folder;
  std::string const path = folder / "roofline.svg";
  auto const r = run_command({"roofline", "4096", "4096", "4096", "--plot", path});
  EXPECT_EQ(r.status, 0) << r.err;
  std::string const svg = read_file(path);
  EXPECT_EQ(svg.rfind("<svg xmlns", 0), 0U);
  EXPECT_NE(svg.find("</svg>\n"), std::string::npos);
  for (char const* const word : {"DRAM 1365", "shared memory 51", "tensor cores, 944 TFLOP/s"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(run_command({"roofline", "4096", "4096", "4096", "--out-dtype", "f32", "--plot", path})
                .status,
            0);
  EXPECT_EQ(read_file(path), read_file(TW_SOURCE_DIR "/docs/pictures/roofline.svg"))
      << "look at the new picture and replace the old one";
  for (std::string const size : {"1x1x1", "1x1x1048576", "1048576x1048576x16", "16x1x1"}) {
    EXPECT_EQ(run_command({"roofline", size, "--plot", path}).status, 0);
    EXPECT_EQ(read_file(path).find("nan"), std::string::npos) << size;
  }
}

TEST(RooflineCommand, Refusals) {
  auto const code = [](std::vector<std::string> words) {
    words.insert(words.begin(), "roofline");
    words.emplace_back("--json");
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2);
    return r.json()["error"]["code"].get<std::string>();
  };
  EXPECT_EQ(code({"4096", "4096"}), "TW0803");
  EXPECT_EQ(code({"64x64x64", "64x64x64"}), "TW0803");
  EXPECT_EQ(code({"64x64x64", "--tile", "128"}), "TW0653");
  EXPECT_EQ(code({"64x64x64", "--tile", "0x128"}), "TW0653");
  EXPECT_EQ(code({"64x64x64", "--cluster", "17x1"}), "TW0653");
  EXPECT_EQ(code({"64x64x64", "--device", "a200"}), "TW0615");
  EXPECT_EQ(code({"64x64x64", "--device", "a100", "--cluster", "2x1"}), "TW0650");
  EXPECT_EQ(code({"64x64x64", "--device", "h200", "--dtype", "nvfp4"}), "TW0471");
  EXPECT_EQ(code({"64x64x64", "--device", "a100", "--dtype", "e4m3"}), "TW0471");
  EXPECT_EQ(code({"64x64x64", "--plot", "/nonexistent/x.svg"}), "TW0612");
}

}  // namespace
