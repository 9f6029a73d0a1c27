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
#include "tilewright/problem/block_format.hpp"

namespace tw {

struct roofline_problem {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  elem ab = elem::bf16, d = elem::bf16;
  // The tiles of a kernel, for L2 and shared memory: a CTA's tile is tile_m x tile_n; the CTAs of a
  // cluster multicast what they load. A device without clusters has CTAs alone. On Blackwell two
  // CTAs of a cluster side by side along M are a pair.
  std::int64_t tile_m = 128, tile_n = 256, cluster_m = 2, cluster_n = 1;
  std::optional<block_format> format{};  // of A and B, whose values are `ab`
};

/// The instruction that multiplies on a device, and what it reads of shared memory: each one reads
/// its rows of A and its columns of B once.
struct multiply_facts {
  char const* name;         // "wgmma"
  std::int64_t rows, cols;  // at most, of one multiply; of mma.sync, of all multiplies of a warp
};

bool has_clusters(device const& d);
/// Pairs of CTAs multiply together.
bool multiplies_in_pairs(roofline_problem const& p, device const& d);
multiply_facts multiply_of(roofline_problem const& p, device const& d);

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
  /// Its bytes are the fewest that a kernel moves. Those of L2 are not: the CTAs of a GPC that load
  /// a line at the same time receive it once (docs/decisions/0025).
  bool bounds = true;
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

  /// The level that takes longest of those that bound, or nullptr where the tensor cores do.
  roofline_level const* bound() const;
  /// The least time, and the rate in that time.
  double min_us() const;
  double attainable_tflops() const { return flop / min_us() * 1e-6; }
};

/// A kernel with these tiles does not take less than min_us().
roofline roofline_of(roofline_problem p, device const& d);

}  // namespace tw
