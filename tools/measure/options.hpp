// SPDX-License-Identifier: Apache-2.0
// options.hpp  How a measurement is made; defaults are the values of published results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/measure/deepgemm.hpp"
#include "tools/measure/protocol.hpp"

namespace tw::bench {

/// Distribution of the operands: standard normal, or uniform in [-1, 1].
enum class data_kind { normal, uniform, zeros };

struct measure_options {
  bool burst = true, sustained = true;
  bool baseline = true;  // cuBLASLt, heuristic and tuned
  std::string cublaslt = "libcublasLt.so.13";
  std::optional<deepgemm_files> deepgemm = {};  // its kernel takes part
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

}  // namespace tw::bench
