// SPDX-License-Identifier: Apache-2.0
// lab.hpp  The command's interface to a device. Built without CUDA, opening a lab is refused
// (TW05xx).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/command/bench/options.hpp"
#include "tools/measure/device_facts.hpp"
#include "tools/measure/result.hpp"
#include "tools/measure/work.hpp"

namespace tw::bench {

/// Measures one shape after another on the current GPU. Throws `rejected` (TW0710, TW0712).
class gemm_lab {
 public:
  virtual ~gemm_lab() = default;
  virtual device_facts facts() const = 0;
  /// Never throws for reasons of the shape: the result says unsupported or failed.
  virtual shape_result measure(gemm_shape const& shape) = 0;
};

std::unique_ptr<gemm_lab> open_gemm_lab(measure_options const& options);

/// One ceiling: what it ran, the work of a launch, its samples.
struct ceiling_row {
  std::string name;  // "wgmma m64n256k16 bf16"
  std::string data;  // "normal", "uniform", "zeros", or "" for reads
  std::string mode;  // "burst 1.2 ms", "burst", "sust"
  work per_launch;
  std::vector<sample> samples;
};

/// One level of memory: reads of all SMs, and the latency of a load. NaN: not measured.
struct memory_row {
  std::string level;  // "shared memory", "DSMEM" (of another CTA), "L1", "L2", "DRAM"
  double gb_per_s = not_measured;
  double bytes_per_clock_sm = not_measured;  // of an SM
  double latency_clocks = not_measured;
};

struct ceiling_report {
  device_facts facts;
  std::vector<ceiling_row> rows;
  std::vector<memory_row> memory;
};

ceiling_report measure_ceilings(ceiling_options const& options);

}  // namespace tw::bench
