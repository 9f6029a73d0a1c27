// SPDX-License-Identifier: Apache-2.0
// cost.cpp  Tensor cores, loads and DRAM overlap. With two accumulators so do the epilogues of all
//           tiles but a cluster's last one; with one, each tile waits for the epilogue before it.
#include "family/sm100_scaled/cost.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::sm100_scaled_family {

predicted_times predict(gemm_problem const& p, block_scaled_config const& c, device const& dev,
                        extra_work const& extra) {
  gemm_calibration const& g = dev.model->gemm;
  sm100_calibration const& m = dev.model->sm100;
  auto const us = [&](double clocks) { return clocks / dev.max_clock_mhz; };
  double const tiles = static_cast<double>(divide_up(p.m, c.tile_m())) *
                       static_cast<double>(divide_up(p.n, c.tile_n)) * static_cast<double>(p.batch);
  double const k_blocks = static_cast<double>(divide_up(p.k, c.tile_k()));
  double const of_cluster =
      std::ceil(tiles / resident_tcgen05_clusters(c.ctas, dev));  // of the busiest one
  auto const matrices = [&](std::int64_t batch_stride) {
    return batch_stride == 0 ? 1.0 : static_cast<double>(p.batch);
  };
  auto const rows = static_cast<double>(p.m), cols = static_cast<double>(p.n);
  double const sums = rows * cols * static_cast<double>(p.batch);
  double const results = c.gated() ? sums / 2 : sums;
  double const line = static_cast<double>(p.k) * size_bits(c.a) / 8;
  double const factors = static_cast<double>(divide_up(p.k, c.block));  // of a line
  double const operands =
      (rows * matrices(p.a.batch_stride_elems) + cols * matrices(p.b.batch_stride_elems)) * line +
      (rows * matrices(scale(p, role::a)->batch_stride) +
       cols * matrices(scale(p, role::b)->batch_stride)) *
          factors;
  double const c_bytes = p.c && p.beta != 0 ? results * size_bytes(p.c->type) : 0;
  double const aux_bytes = c.aux() ? sums * size_bits(c.d) / 8 : 0;
  // bf16 flop of the same bytes of K: all types take the same time for them.
  double const flop = sums * line;

  predicted_times r;
  r.tensor_us = us(flop / static_cast<double>(dev.mma_flop_per_clock) / dev.sm_count);
  constexpr int multiplies_of_block = sm100_cta::stage_multiplies;
  double const one = multiply_clocks(c.ctas, c.tile_n, m);
  double const tile = k_blocks * multiplies_of_block * one;
  r.math_us = us(of_cluster * tile / m.efficiency + m.first_multiply_clocks);
  double const factor_bytes = c.atom_bytes * c.stage_atoms();
  double const read =
      k_blocks *
      (multiplies_of_block * mma_k_bytes * (sm100_cta::rows + c.b_share()) + factor_bytes);
  r.shared_memory_us = us(of_cluster * (k_blocks * c.stage_bytes() + read) /
                          static_cast<double>(dev.smem_bytes_per_clock));
  r.loads_us = us(tiles * c.ctas * k_blocks * c.stage_bytes() / g.load_bytes_per_clock);
  r.dram_us = (operands + results * size_bits(c.d) / 8 + aux_bytes + c_bytes) / g.dram_bytes_per_us;
  double const stored = 1.0 * sm100_cta::rows * (c.d_cols() + (c.aux() ? c.tile_n : 0)) *
                        (size_bits(c.d) / 8.0 / g.epilogue_bytes_per_clock *
                             (extra.plain_stores ? g.epilogue_plain_store_factor : 1) +
                         (c.fused() ? g.epilogue_fused_clocks : 0));
  double const under = c.accumulators() == 1 ? 0 : us(tile / m.efficiency);
  r.epilogue_us = us(stored) + std::max(0.0, us(stored) - under) * (of_cluster - 1);
  add_launch_and_total(r, c.ctas, extra, g);
  return r;
}

}  // namespace tw::sm100_scaled_family
