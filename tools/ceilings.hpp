// SPDX-License-Identifier: Apache-2.0
// ceilings.hpp  What one H200 can do at most, as measured, and how near a time comes to it.
#pragma once

#include <algorithm>

#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Medians of bench/results/2026-11-20-h200-ceiling.json: wgmma m64n256k16 in bf16 on normal data
/// without any loads, and reads of 8 GiB; bursts.
inline constexpr double wgmma_ceiling_tflops = 944;
inline constexpr double dram_ceiling_gb_per_s = 4540;

/// A time as rates, and as shares of the ceilings. Bytes: each operand read once, D written once.
struct rates {
  double tflops = 0, gb_per_s = 0;
  double of_wgmma = 0, of_dram = 0;

  /// The larger share: that of the ceiling which the product meets first.
  double of_ceiling() const { return std::max(of_wgmma, of_dram); }
};

inline rates rates_of(gemm_problem const& p, double us) {
  auto const m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  auto const k = static_cast<double>(p.k);
  auto const d_cols = static_cast<double>(result_cols(p.epilogue, p.n));
  auto const batch = static_cast<double>(p.batch);
  auto const matrices = [&](matrix_desc const& x) { return x.batch_stride_elems == 0 ? 1 : batch; };
  double const bytes = m * k * size_bytes(p.a.type) * matrices(p.a) +
                       k * n * size_bytes(p.b.type) * matrices(p.b) +
                       m * d_cols * size_bytes(p.d.type) * matrices(p.d);
  rates r;
  r.tflops = 2 * m * n * k * batch / us * 1e-6;
  r.gb_per_s = bytes / us * 1e-3;
  r.of_wgmma = r.tflops / wgmma_ceiling_tflops;
  r.of_dram = r.gb_per_s / dram_ceiling_gb_per_s;
  return r;
}

}  // namespace tw
