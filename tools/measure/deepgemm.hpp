// SPDX-License-Identifier: Apache-2.0
// deepgemm.hpp  DeepGEMM's kernel sm90_fp8_gemm_1d2d_impl, from a user's headers: for which GEMMs,
//             in which configurations, and its compilation.
//
// DeepGEMM compiles a kernel for each N, K and configuration at run time, and so does this. Nothing
// of it is part of Tilewright. Facts about its interface (parameters of the template, rules and
// estimate of its choice, sizes of shared memory) were read in its host code, commit 54e22612
// (2026-06-23).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

/// Folders of the headers, and the compiler's path.
struct deepgemm_files {
  std::vector<std::string> include;
  std::string nvcc;
};

/// `dir`: a checkout of DeepGEMM, or its installed Python package. `cutlass`: a checkout of
/// CUTLASS; empty: DeepGEMM's own, in third-party/cutlass of a checkout or among the package's
/// headers. nvcc is searched on PATH, then in /usr/local/cuda. Throws `rejected` TW0716 if one of
/// the three is missing.
deepgemm_files find_deepgemm(std::string const& dir, std::string const& cutlass);

/// Nothing, or why the kernel does not compute `p`: it multiplies e4m3 in TN with float32 scales
/// 1x128 of A and 128x128 of B to bf16, K a multiple of 16 and N of 8, and has neither epilogue nor
/// batch.
std::optional<std::string> why_not_deepgemm(gemm_problem const& p);

/// A tile of D, its cluster, stages and shared memory. K blocks have 128 elements.
struct deepgemm_config {
  int block_m = 0, block_n = 0;
  int cluster_m = 1, cluster_n = 1;  // CTAs that share a tile of B; of A
  int stages = 0;
  int smem_bytes = 0;  // dynamic, at most 232448
  int swizzle_d = 0;   // bytes

  int threads() const { return block_m <= 64 ? 256 : 384; }  // 128 of them load
  int clusters() const { return cluster_m * cluster_n; }     // CTAs of a cluster
  /// "128x192, cluster 2x1, 4 stages".
  std::string text() const;
};

/// The configurations that DeepGEMM allows for the shape on `sms` SMs, at most `count`, in the
/// order of DeepGEMM's estimate of their cycles: it would run the first.
std::vector<deepgemm_config> deepgemm_configs(std::int64_t m, std::int64_t n, std::int64_t k,
                                              int sms, std::size_t count);

/// CUDA source that instantiates the kernel for N, K and the number of SMs, and nothing else.
std::string deepgemm_source(deepgemm_config const& c, std::int64_t n, std::int64_t k, int sms);

/// The cubin of each source, for sm_90a, with DeepGEMM's options of nvcc. A compiler runs on each
/// core. Throws `rejected` TW0716 with the first message of the compiler.
std::vector<std::string> compile_deepgemm(deepgemm_files const& files,
                                          std::vector<std::string> const& sources);

}  // namespace tw::bench
