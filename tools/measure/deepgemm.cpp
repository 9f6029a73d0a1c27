// SPDX-License-Identifier: Apache-2.0
// deepgemm.cpp  Finds DeepGEMM's headers, ranks its configurations, and compiles them.
#include "tools/measure/deepgemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <thread>
#include <utility>

#include "tilewright/problem/operand.hpp"
#include "tools/io/program.hpp"
#include "tools/io/refuse.hpp"

namespace tw::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t block_k = 128, wgmma_m = 64;
constexpr int smem_capacity = 232448, barrier_bytes = 256, most_stages = 16;

std::int64_t blocks(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}
int aligned(std::int64_t bytes, int to) { return static_cast<int>(blocks(bytes, to) * to); }

/// The first of the folders that has the header; empty: none.
std::string folder_with(std::vector<std::string> const& folders, std::string const& header) {
  for (std::string const& folder : folders)
    if (fs::is_regular_file(fs::path(folder) / header)) return folder;
  return "";
}

/// Widest swizzle of which a row of D's tile, in bf16, is a whole number.
int swizzle_of(int block_n) {
  for (int const bytes : {128, 64, 32})
    if (block_n * 2 % bytes == 0) return bytes;
  return 16;
}

/// Stages and shared memory of a tile; fewer than 3 stages: it does not fit.
deepgemm_config with_memory(deepgemm_config c, std::int64_t k) {
  bool const one_scale = block_k % c.block_n == 0;  // of B for a tile and a K block
  int const of_b_scales = aligned(blocks(k, block_k) * 4 * (one_scale ? 1 : 2), 8);
  int const fixed = aligned(std::int64_t{c.block_m} * c.block_n * 2, 1024) + barrier_bytes;
  int const stage = static_cast<int>((c.block_m + c.block_n) * block_k) +
                    aligned(std::int64_t{c.block_m} * 4, 128);
  c.stages = std::min((smem_capacity - fixed - of_b_scales) / stage, most_stages);
  c.smem_bytes = fixed + of_b_scales + c.stages * stage;
  c.swizzle_d = swizzle_of(c.block_n);
  return c;
}

/// DeepGEMM's estimate: the larger of the cycles of L1 and of L2, by the share of SMs at work. Its
/// integers are truncated where DeepGEMM truncates.
std::int64_t estimated_cycles(deepgemm_config const& c, std::int64_t m, std::int64_t n,
                              std::int64_t k, int sms) {
  std::int64_t const tiles = blocks(m, c.block_m) * blocks(n, c.block_n);
  std::int64_t const waves = blocks(tiles, sms);
  if (c.clusters() > 1 && waves <= 1) return std::numeric_limits<std::int64_t>::max();
  auto const l2_rate = static_cast<std::int64_t>(std::min(64.0 * sms, 8e6 / 1.3e3));
  std::int64_t const l1_rate = 128 * std::int64_t{sms};
  std::int64_t const of_d = std::int64_t{c.block_m} * c.block_n * 2;
  std::int64_t const from_l2 = k * (c.block_m / c.cluster_n + c.block_n / c.cluster_m);
  std::int64_t const to_smem = k * (c.block_m + c.block_n);
  std::int64_t const from_smem =
      k * (std::max<std::int64_t>(wgmma_m, c.block_m) + c.block_n) + of_d;
  std::int64_t const l2 = (from_l2 + of_d) * tiles / l2_rate;
  std::int64_t const l1 = (to_smem + from_smem + of_d) * tiles / l1_rate;
  float const at_work = static_cast<float>(tiles) / static_cast<float>(waves * sms);
  return static_cast<std::int64_t>(static_cast<float>(std::max(l1, l2)) / at_work);
}

/// A folder that goes with the object, and with it all that it holds.
class temporary_folder {
 public:
  temporary_folder() : path_(fs::temp_directory_path() / "tilewright-deepgemm-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr)
      refuse("TW0716", "temporary folder " + path_, "no permission", "a writable folder", "");
  }
  ~temporary_folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;

  std::string file(std::size_t i, char const* suffix) const {
    return path_ + "/" + std::to_string(i) + suffix;
  }

 private:
  std::string path_;
};

std::string content_of(std::string const& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The first line that reports an error, or the last line.
std::string complaint_in(std::string const& log) {
  std::istringstream lines(log);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

deepgemm_files find_deepgemm(std::string const& dir, std::string const& cutlass) {
  char const* const kernel = "deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh";
  std::string const own = folder_with({dir + "/deep_gemm/include", dir + "/include", dir}, kernel);
  if (own.empty())
    refuse("TW0716", "DeepGEMM's headers", dir + " without " + kernel,
           "a checkout of DeepGEMM, or its installed package",
           "git clone https://github.com/deepseek-ai/DeepGEMM, and --deepgemm DIR");
  std::vector<std::string> const places =
      cutlass.empty() ? std::vector{own, dir + "/third-party/cutlass/include"}
                      : std::vector{cutlass + "/include", cutlass};
  std::string const theirs = folder_with(places, "cute/arch/mma_sm100_desc.hpp");
  if (theirs.empty())
    refuse("TW0716", "CUTLASS's headers, which DeepGEMM includes",
           places.back() + " without cute/arch/mma_sm100_desc.hpp", "a checkout of CUTLASS 4",
           "git submodule update --init third-party/cutlass, or --cutlass DIR");
  std::string nvcc = find_program("nvcc");
  if (nvcc.empty() && fs::is_regular_file("/usr/local/cuda/bin/nvcc"))
    nvcc = "/usr/local/cuda/bin/nvcc";
  if (nvcc.empty())
    refuse("TW0716", "compiler of DeepGEMM's kernel", "no nvcc", "nvcc of CUDA 12.9 or later",
           "add its folder to PATH");
  std::vector<std::string> include = {own};
  if (theirs != own) include.push_back(theirs);
  return {include, nvcc};
}

std::optional<std::string> why_not_deepgemm(gemm_problem const& p) {
  auto const has = [&](role x, scaling kind) {
    auto const& s = scale(p, x);
    return s && s->type == elem::f32 && scaling_of(*s) == kind;
  };
  if (p.a.type != elem::e4m3 || p.b.type != elem::e4m3) return "it multiplies e4m3 alone";
  if (!has(role::a, scaling::block_1x128) || !has(role::b, scaling::block_128x128))
    return "it needs float32 scales 1x128 of A and 128x128 of B";
  if (p.a.ord != order::row_major || p.b.ord != order::col_major) return "it computes TN alone";
  if (p.d.type != elem::bf16 || p.scale_d || p.d.ord != order::row_major)
    return "its D is bf16, in rows, without scales";
  if (p.groups || p.batch > 1) return "this contender has neither groups nor batches";
  if (is_fused(p.epilogue) || p.c || p.aux || p.alpha != 1) return "it lacks epilogues";
  if (p.k % 16 != 0 || p.n % 8 != 0)
    return fmt::format("it needs K a multiple of 16 and N of 8, not {} and {}", p.k, p.n);
  return std::nullopt;
}

std::string deepgemm_config::text() const {
  return fmt::format("{}x{}, cluster {}x{}, {} stages", block_m, block_n, cluster_m, cluster_n,
                     stages);
}

std::vector<deepgemm_config> deepgemm_configs(std::int64_t m, std::int64_t n, std::int64_t k,
                                              int sms, std::size_t count) {
  std::vector<int> rows = {64, 128};
  for (int const few : {16, 32})
    if (m <= few) rows.push_back(few);
  rows.push_back(256);
  std::vector<std::pair<std::int64_t, deepgemm_config>> found;
  for (auto const& [cluster_m, cluster_n] : {std::pair{1, 1}, std::pair{1, 2}, std::pair{2, 1}})
    for (int const block_m : rows)
      for (int block_n = 16; block_n <= 192; block_n += 16) {
        if (sms % (cluster_m * cluster_n) != 0 || (block_m > 128 && block_n > 128)) continue;
        // A tile has two scales of B at most, and their border is one of a few places.
        int const beyond = block_n - static_cast<int>(block_k);
        if (beyond > 0 && block_n % beyond != 0 && block_k % beyond != 0) continue;
        deepgemm_config const c = with_memory({block_m, block_n, cluster_m, cluster_n}, k);
        if (c.stages < 3 || (block_m * block_n < 128 * 192 && c.stages < 4)) continue;
        found.emplace_back(estimated_cycles(c, m, n, k, sms), c);
      }
  std::ranges::stable_sort(found, {}, [](auto const& one) { return one.first; });
  std::vector<deepgemm_config> best;
  for (auto const& [cycles, c] : found)
    if (best.size() < count) best.push_back(c);
  return best;
}

std::string deepgemm_source(deepgemm_config const& c, std::int64_t n, std::int64_t k, int sms) {
  return fmt::format(
      "#include <deep_gemm/impls/sm90_fp8_gemm_1d2d.cuh>\n"
      "using namespace deep_gemm;\n"
      "auto const kernel = &sm90_fp8_gemm_1d2d_impl<\n"
      "    cute::UMMA::Major::K,\n"  // of the scales of B
      "    0, {}, {}, 1,\n"          // M at run time, N, K, groups
      "    {}, {}, {},\n"            // block
      "    128, 128, {},\n"          // swizzles of A, B and D
      "    {}, 128, {},\n"           // stages, threads that load, threads that multiply
      "    {}, {}, {},\n"            // CTAs of a cluster, whether they share A, SMs
      "    GemmType::Normal, cutlass::bfloat16_t, epilogue::transform::EpilogueIdentity>;\n",
      n, k, c.block_m, c.block_n, block_k, c.swizzle_d, c.stages, c.threads() - 128, c.clusters(),
      c.cluster_n > 1, sms);
}

std::vector<std::string> compile_deepgemm(deepgemm_files const& files,
                                          std::vector<std::string> const& sources) {
  temporary_folder const folder;
  std::vector<program_end> ends(sources.size());
  std::atomic<std::size_t> next = 0;
  auto const work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      std::ofstream(folder.file(i, ".cu")) << sources[i];
      std::vector<std::string> words = {files.nvcc,
                                        "-cubin",
                                        "-arch=sm_90a",
                                        "-std=c++20",
                                        "-O3",
                                        "--expt-relaxed-constexpr",
                                        "--expt-extended-lambda",
                                        "--diag-suppress=39,161,174,177,186,940",
                                        "--ptxas-options=--register-usage-level=10"};
      for (std::string const& include : files.include) words.push_back("-I" + include);
      words.insert(words.end(), {folder.file(i, ".cu"), "-o", folder.file(i, ".cubin")});
      ends[i] = run_program(words, folder.file(i, ".log"));
    }
  };
  std::size_t const cores = std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < std::min(cores, sources.size()); ++i) threads.emplace_back(work);
  }
  std::vector<std::string> cubins;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!ends[i].good())
      refuse("TW0716", "compilation of DeepGEMM's kernel",
             ends[i].text() + ": " + complaint_in(content_of(folder.file(i, ".log"))),
             "headers whose kernel takes the parameters of DeepGEMM 54e22612 (2026-06-23)",
             "--baseline cublaslt measures without it");
    cubins.push_back(content_of(folder.file(i, ".cubin")));
  }
  return cubins;
}

}  // namespace tw::bench
