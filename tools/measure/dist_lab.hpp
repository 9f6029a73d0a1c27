// SPDX-License-Identifier: Apache-2.0
// dist_lab.hpp  Measures GEMMs over the GPUs of this machine: our paths and NCCL with cuBLASLt,
//               interleaved, each result checked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/dist/shards.hpp"
#include "tools/measure/device_facts.hpp"

namespace tw::bench {

/// A layer: the GEMM of one rank, bf16 with float32 sums, A row-major, B column-major.
struct dist_shape {
  std::string name;
  dist::operation op;
  std::int64_t m, n, k;
};

struct dist_bench_options {
  int ranks = 0;                   // 0: all GPUs, at most 8; 1: the cost of a group of one
  std::vector<std::string> names;  // of layers; empty: all
  std::vector<std::string> ops;    // names of operations; empty: all
  std::string baseline = "cublaslt", cublaslt = "libcublasLt.so.13";
  int rounds = 0;  // 0: 7, with --quick 3
  bool quick = false;
  std::string json_path, commit;
};

/// Times of one method, microseconds, the largest of all ranks: one for each round.
struct dist_method {
  std::string name;
  std::vector<double> us;
  double error = 0;  // of the sampled elements, in units of the bound; above 1 is wrong
  bool computes = true;
};

struct dist_row {
  dist_shape shape;
  bool in_graph = false;  // calls are captured in CUDA graphs: M <= 2048
  std::vector<dist_method> methods;
};

/// Communicators and groups of all ranks, one thread for each.
class dist_lab {
 public:
  virtual ~dist_lab() = default;
  virtual int ranks() const = 0;
  virtual std::string nccl() const = 0;  // "2.28.9"
  virtual device_facts facts() const = 0;
  virtual dist_row measure(dist_shape const& s) = 0;
};

/// `largest`: bytes that the largest receive buffer needs. Throws `rejected`: TW0908 without NCCL,
/// TW0712 without cuBLASLt, TW0503 with fewer GPUs than ranks, or one GPU without `ranks`.
std::unique_ptr<dist_lab> open_dist_lab(dist_bench_options const& o,
                                        std::vector<dist_shape> const& shapes);

}  // namespace tw::bench
