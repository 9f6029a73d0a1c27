// SPDX-License-Identifier: Apache-2.0
// terms.hpp  The parts of a prediction, for those who want to know what limits a plan.
#pragma once

#include "family/sm90_gemm/cost.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/family/plan.hpp"

namespace tw {

/// The terms that predict() added up for problem `p` (as the kernel runs it), and others: the
/// time of the GEMM's own operations, the traffic of shared memory.
inline plan_terms terms_of(gemm_problem const& p, gemm_config const& c, tile_split const& s,
                           cost const& t, device const& dev) {
  gemm_calibration const& m = dev.model->gemm;
  auto const us = [&](double clocks) { return clocks / (m.clock_ghz * 1000); };
  double const flop = 2 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                      static_cast<double>(p.n) * static_cast<double>(p.k);
  double const k_tiles = static_cast<double>((p.k + c.tile_k() - 1) / c.tile_k());

  plan_terms r;
  int const whole = (s.tiles - s.split_k_tiles + s.clusters - 1) / s.clusters;
  r.waves =
      whole +
      (s.split_k_tiles == 0 ? 0.0 : static_cast<double>(s.split_k_tiles) / s.split_k_clusters);
  double const flop_of_bf16 =
      flop * size_bytes(c.a.multiplied) / size_bytes(elem::bf16);  // bf16 FLOP that take as long
  double const clocks = flop_of_bf16 / static_cast<double>(dev.mma_flop_per_clock) / dev.sm_count /
                        std::max(1.0, efficiency_of(m, c) * type_rate_of(*dev.model, p, c));
  r.tensor = std::min(us(clocks), t.math_us);
  r.idle = std::max(0.0, t.math_us - r.tensor);
  r.loads = t.loads_us;
  // TMA writes each byte of a stage once; each wgmma reads its rows of A and all of B.
  constexpr double row_bytes = widest_span_bytes, multiply_bytes = mma_k_bytes;
  double const written = row_bytes * (c.tile_m + c.tile_n);
  double const read = c.tile_m / wgmma_m * block_multiplies * multiply_bytes * (wgmma_m + c.tile_n);
  r.shared_memory = us(r.waves * k_tiles / c.cluster_k * (written + read) /
                       static_cast<double>(dev.smem_bytes_per_clock));
  r.dram = t.dram_us;
  r.epilogue = t.epilogue_us;
  r.reduction = t.split_k_us;
  r.launch = m.launch_us + (multicasts(c) ? m.cluster_launch_us : 0);
  r.copies = t.copies_us;
  return r;
}

}  // namespace tw
