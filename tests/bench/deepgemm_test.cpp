// SPDX-License-Identifier: Apache-2.0
// deepgemm_test.cpp  Which configurations of DeepGEMM's kernel are tried, their source text, and
// the search for headers and compiler. No GPU, no DeepGEMM: a script stands for nvcc.
#include "tools/measure/deepgemm.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "tilewright/base/check.hpp"
#include "tools/measure/shapes.hpp"
#include "tools/measure/support.hpp"

namespace tw::bench {
namespace {

namespace fs = std::filesystem;

class temporary_tree {
 public:
  temporary_tree() {
    std::string path = fs::temp_directory_path() / "tw-deepgemm-test-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = path;
  }
  ~temporary_tree() { fs::remove_all(root_); }
  std::string add(std::string const& file, std::string const& content = "") const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << content;
    ::chmod((root_ / file).c_str(), 0755);
    return root_ / file;
  }
  std::string path(std::string const& folder = "") const { return root_ / folder; }

 private:
  fs::path root_;
};

char const* const kernel_header = "deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh";
char const* const cutlass_header = "cute/arch/mma_sm100_desc.hpp";

std::string code_of(std::function<void()> const& call, std::string const& part = "") {
  try {
    call();
  } catch (rejected const& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    return e.why().code;
  }
  return "";
}

gemm_problem problem(std::string const& dtype, std::int64_t n = 4096, std::int64_t k = 7168,
                     std::string const& layout = "TN", std::string const& epilogue = "") {
  nlohmann::json const entry = {
      {"name", "s"}, {"category", "c"}, {"m", 100},         {"n", n},
      {"k", k},      {"dtype", dtype},  {"layout", layout}, {"epilogue", epilogue}};
  return problem_of(parse_shapes(nlohmann::json::array({entry}).dump(), "test").at(0));
}

TEST(DeepGemm, EveryConfigurationKeepsTheKernelsRules) {
  for (std::int64_t const m : {1, 16, 17, 64, 128, 200, 4096, 8192})
    for (std::int64_t const n : {64, 2112, 7168, 32768})
      for (std::int64_t const k : {512, 7168, 28672})
        for (int const sms : {132, 114, 78})
          for (deepgemm_config const& c : deepgemm_configs(m, n, k, sms, 1000)) {
            SCOPED_TRACE(c.text());
            EXPECT_GE(c.stages, 3);
            EXPECT_LE(c.stages, 16);
            EXPECT_LE(c.smem_bytes, 227 * 1024);
            // All that the kernel lays out: D, stages with A's scales and two barriers, B's scales.
            std::int64_t const of_b = (k + 127) / 128 * 4 * (128 % c.block_n == 0 ? 1 : 2);
            std::int64_t const used =
                (c.block_m * c.block_n * 2 + 1023) / 1024 * 1024 +
                c.stages * ((c.block_m + c.block_n) * 128 + (c.block_m * 4 + 127) / 128 * 128) +
                (of_b + 7) / 8 * 8 + c.stages * 16;
            EXPECT_GE(c.smem_bytes, used);
            EXPECT_TRUE(c.block_n <= 128 || std::gcd(c.block_n, 128) == c.block_n - 128);
            EXPECT_TRUE(c.block_m <= 128 || c.block_n <= 128);
            EXPECT_EQ(c.block_n * 2 % c.swizzle_d, 0);
            EXPECT_TRUE(c.block_m >= 64 || m <= c.block_m);
            EXPECT_LE(c.clusters(), 2);
            EXPECT_EQ(sms % c.clusters(), 0);
            EXPECT_EQ(c.threads(), c.block_m <= 64 ? 256 : 384);
          }
}

/// By the rules of DeepGEMM 54e22612, worked out apart from this program.
TEST(DeepGemm, TheFirstConfigurationIsItsOwnChoice) {
  auto const first = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return deepgemm_configs(m, n, k, 132, 8).at(0).text();
  };
  EXPECT_EQ(first(8192, 8192, 8192), "256x128, cluster 1x2, 3 stages");
  EXPECT_EQ(first(4096, 2112, 7168), "128x192, cluster 2x1, 4 stages");
  EXPECT_EQ(first(512, 8192, 8192), "256x128, cluster 1x1, 3 stages");
  EXPECT_EQ(first(256, 7168, 4096), "128x112, cluster 1x1, 6 stages");
  EXPECT_EQ(first(64, 8192, 8192), "64x64, cluster 1x1, 13 stages");
  EXPECT_EQ(first(16, 8192, 8192), "16x64, cluster 1x1, 16 stages");
}

TEST(DeepGemm, ConfigurationsDiffer) {
  auto const some = deepgemm_configs(4096, 7168, 2048, 132, 8);
  std::set<std::string> texts;
  for (deepgemm_config const& c : some) texts.insert(c.text());
  EXPECT_EQ(texts.size(), 8U);
}

TEST(DeepGemm, TheSourceNamesShapeTileAndDevice) {
  deepgemm_config c{128, 192, 2, 1, 4, 215744, 128};
  std::string const text = deepgemm_source(c, 2112, 7168, 132);
  for (char const* const part :
       {"#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>", "0, 2112, 7168, 1,", "128, 192, 128,",
        "128, 128, 128,", "4, 128, 256,", "2, false, 132,"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  c.block_m = 64, c.cluster_m = 1, c.cluster_n = 2, c.swizzle_d = 64;
  std::string const other = deepgemm_source(c, 2112, 7168, 78);
  for (char const* const part : {"64, 192, 128,", "128, 128, 64,", "4, 128, 128,", "2, true, 78,"})
    EXPECT_NE(other.find(part), std::string::npos) << part << "\n" << other;
}

TEST(DeepGemm, OtherGemmsGiveTheReason) {
  EXPECT_EQ(why_not_deepgemm(problem("fp8_block")), std::nullopt);
  auto const reason = [](gemm_problem const& p) { return why_not_deepgemm(p).value_or("none"); };
  EXPECT_NE(reason(problem("bf16")).find("e4m3"), std::string::npos);
  for (char const* const dtype : {"fp8", "fp8_row", "fp8_1x128", "fp8_128x128"})
    EXPECT_NE(reason(problem(dtype)).find("scales 1x128 of A"), std::string::npos) << dtype;
  EXPECT_NE(reason(problem("fp8_block_f32")).find("bf16"), std::string::npos);
  EXPECT_NE(reason(problem("fp8_block", 4096, 7168, "NN")).find("TN"), std::string::npos);
  EXPECT_NE(reason(problem("fp8_block", 4096, 7168, "TN", "bias")).find("epilogue"),
            std::string::npos);
  EXPECT_NE(reason(problem("fp8_block", 4100)).find("4100"), std::string::npos);
  EXPECT_NE(reason(problem("fp8_block", 4096, 7160)).find("7160"), std::string::npos);
  gemm_problem ue8m0 = problem("fp8_block"), many = ue8m0;
  ue8m0.scale_a->type = elem::ue8m0;
  EXPECT_NE(reason(ue8m0).find("float32"), std::string::npos);
  many.batch = 2;
  EXPECT_NE(reason(many).find("batches"), std::string::npos);
}

TEST(DeepGemm, HeadersOfACheckoutAndOfAPackageAreFound) {
  temporary_tree const tree;
  std::string const nvcc = tree.add("bin/nvcc", "#!/bin/sh\n");
  std::string const path = std::getenv("PATH");
  ::setenv("PATH", (tree.path("bin") + ":" + path).c_str(), 1);
  tree.add(std::string("checkout/deep_gemm/include/") + kernel_header);
  std::string const checkout = tree.path("checkout");
  EXPECT_EQ(code_of([&] { find_deepgemm(tree.path("bin"), ""); }, kernel_header), "TW0716");
  EXPECT_EQ(code_of([&] { find_deepgemm(checkout, ""); }, "git submodule update"), "TW0716");
  tree.add(std::string("cutlass/include/") + cutlass_header);
  auto const both = find_deepgemm(checkout, tree.path("cutlass"));
  EXPECT_EQ(both.include, (std::vector<std::string>{checkout + "/deep_gemm/include",
                                                    tree.path("cutlass/include")}));
  EXPECT_EQ(both.nvcc, nvcc);
  tree.add(std::string("checkout/third-party/cutlass/include/") + cutlass_header);
  EXPECT_EQ(find_deepgemm(checkout, "").include.at(1), checkout + "/third-party/cutlass/include");
  tree.add(std::string("package/include/") + kernel_header);
  tree.add(std::string("package/include/") + cutlass_header);
  EXPECT_EQ(find_deepgemm(tree.path("package"), "").include,
            std::vector<std::string>{tree.path("package/include")});
  ::setenv("PATH", path.c_str(), 1);
}

TEST(DeepGemm, CompilersRunForEachSourceAndTheirFirstErrorIsReported) {
  temporary_tree const tree;
  std::string const copies = tree.add("copies",
                                      "#!/bin/sh\nfor w; do case $last in -o) out=$w;; esac\n"
                                      "case $w in *.cu) in=$w;; esac; last=$w; done\n"
                                      "cp \"$in\" \"$out\"\n");
  std::string const fails = tree.add(
      "fails",
      "#!/bin/sh\necho kernel.cu: note; echo 'kernel.cu: error: unknown kernel'; exit 2\n");
  std::vector<std::string> sources;
  for (int i = 0; i < 20; ++i) sources.push_back("source " + std::to_string(i));
  EXPECT_EQ(compile_deepgemm({{"a", "b"}, copies}, sources), sources);
  EXPECT_EQ(code_of(
                [&] {
                  compile_deepgemm({{"a"}, fails}, sources);
                },
                "exit status 2: kernel.cu: error: unknown kernel"),
            "TW0716");
  EXPECT_EQ(code_of(
                [&] {
                  compile_deepgemm({{"a"}, tree.path("nobody")}, sources);
                },
                "file or directory"),
            "TW0716");
}

}  // namespace
}  // namespace tw::bench
