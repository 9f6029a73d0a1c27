// SPDX-License-Identifier: Apache-2.0
// roofline.hpp  Bytes, operations and the least time of a GEMM at each level of a device.
//
// A level moves bytes at a rate; the tensor cores compute at a rate. FLOP / bytes is the arithmetic
// intensity at that level, the ratio of the rates its ridge point: below it the level is slower
// than the tensor cores. The level whose bytes take longest bounds the GEMM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/elem.hpp"
#include "tilewright/device/device.hpp"

namespace tw {

struct roofline_problem {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  elem ab = elem::bf16, d = elem::bf16;
  // The tiles of a kernel, for L2 and shared memory: a CTA's tile is tile_m x tile_n; the CTAs of a
  // cluster multicast what they load.
  std::int64_t tile_m = 128, tile_n = 256, cluster_m = 2, cluster_n = 1;
};

/// GB/s or TFLOP/s; 0: unknown.
struct ceiling_pair {
  double data_sheet = 0, measured = 0;
  double best() const { return measured > 0 ? measured : data_sheet; }
};

struct roofline_level {
  std::string name;  // "DRAM", "L2", "shared memory"
  double bytes = 0;  // of the whole GEMM
  ceiling_pair gb_per_s;
  double intensity = 0;  // FLOP per byte
  ceiling_pair ridge;    // FLOP per byte
  double us = 0;         // at the best known ceiling; 0: the ceiling is unknown
};

struct roofline {
  roofline_problem problem;
  device dev;
  double flop = 0;
  ceiling_pair tflops;
  double tensor_us = 0;
  std::vector<roofline_level> levels;
  std::string source;       // of the data sheet's rate of the tensor cores; empty: device.hpp
  std::string measured_on;  // GPU and date of the measured levels; empty: DRAM and wgmma alone

  /// The level that takes longest, or nullptr where the tensor cores do.
  roofline_level const* bound() const;
  /// The least time, and the rate in that time.
  double min_us() const;
  double attainable_tflops() const { return flop / min_us() * 1e-6; }
};

roofline roofline_of(roofline_problem const& p, device const& d);

}  // namespace tw
