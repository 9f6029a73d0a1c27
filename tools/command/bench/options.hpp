// SPDX-License-Identifier: Apache-2.0
// options.hpp  Options of `tilewright bench`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/measure/options.hpp"
#include "tools/measure/shape_options.hpp"

namespace tw::bench {

struct gemm_bench_options {
  shape_request shapes;
  std::string mode = "both", data = "normal";
  std::vector<std::string> baselines = {"cublaslt"};
  std::string deepgemm, cutlass;  // folders
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
