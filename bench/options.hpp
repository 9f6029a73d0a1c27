// SPDX-License-Identifier: Apache-2.0
// options.hpp  Options of the user; defaults are the values of published results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/protocol.hpp"
#include "tools/result_scale_request.hpp"

namespace tw::bench {

/// Distribution of the operands: standard normal, or uniform in [-1, 1].
enum class data_kind { normal, uniform, zeros };

struct measure_options {
  bool burst = true, sustained = true;
  bool baseline = true;  // cuBLASLt, heuristic and tuned
  std::string cublaslt = "libcublasLt.so.13";
  int tune_candidates = 16;
  int our_plans = 1;   // the fastest by prediction, of which the fastest by measurement is timed
  bool chain = false;  // contenders whose launches start while the one before ends, and do not
  bool invariant = false;           // a contender: the plan of the same GEMM with `reproducible`
  std::vector<std::string> orders;  // of tiles, "serpentine:8": each a separate contender
  data_kind data = data_kind::normal;
  std::uint64_t seed = 1;
  double batch_s = 0.015;      // work of one burst
  double cycle_bytes = 256e6;  // the rotated buffers hold at least this much
  protocol_options protocol;
  std::string family = {};  // of our kernels; empty: any
};

struct gemm_bench_options {
  std::string shapes_path;         // a list, or
  std::vector<std::string> sizes;  // M N K and their ranges (sizes.hpp), of these:
  std::string dtype = "bf16", out_dtype, layout = "TN", epilogue;
  result_scale_request scale_d;
  std::int64_t batch = 1;
  std::vector<std::string> categories, names;
  std::string mode = "both", baseline = "cublaslt", data = "normal";
  std::string json_path, csv_path, commit;
  bool quick = false;
  int rounds = 0;  // 0: the protocol's own
  measure_options measure;
};

struct ceiling_options {
  std::string json_path, commit;
  bool quick = false;
  std::uint64_t seed = 1;
  protocol_options protocol;
};

struct host_bench_options {
  std::string json_path, commit;
};

/// Of the kernel whose plain accesses are seen: the size is a multiple.
inline constexpr int emulator_tile = 256;

struct emulator_bench_options {
  std::string json_path, commit;
  int size = 1024, rounds = 9;
};

}  // namespace tw::bench
