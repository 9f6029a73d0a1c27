// SPDX-License-Identifier: Apache-2.0
// cost.cpp  Tensor cores, loads from L2 and DRAM overlap, and so do the epilogues of all tiles but
//           a cluster's last one: the multiplies go on in the other accumulator.
#include "family/sm100_gemm/cost.hpp"

#include <algorithm>
#include <cmath>

#include "family/operand_scales.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/kernel/sm100/cta.hpp"

namespace tw::sm100_gemm_family {

double promotion_clocks(gemm_problem const& p, sm100_config const& c) {
  if (!c.block_scales) return 0;
  constexpr double load = 1, fma = 1;
  constexpr double column_scale = 1.25;  // a multiply, and a load of four from shared memory
  // As the kernel decides: with a gate the columns of a tile lie in two parts of B.
  std::int64_t const block = p.scale_b ? canonical(*p.scale_b, p.n, p.k).block_outer : 0;
  bool const by_column = c.gated() ? block != 0 : block == 1;
  return c.tile_n * (load + fma + (by_column ? column_scale : 0));
}

predicted_times predict(gemm_problem const& p, sm100_config const& c, device const& dev,
                        extra_work const& extra) {
  gemm_calibration const& g = dev.model->gemm;
  sm100_calibration const& m = dev.model->sm100;
  auto const us = [&](double clocks) { return clocks / dev.max_clock_mhz; };
  double const tiles = static_cast<double>(divide_up(p.m, c.tile_m())) *
                       static_cast<double>(divide_up(p.n, c.tile_n)) * static_cast<double>(p.batch);
  double const k_blocks = static_cast<double>(divide_up(p.k, c.tile_k()));
  double const of_cluster =
      std::ceil(tiles / resident_tcgen05_clusters(c.ctas, dev));  // of the busiest one
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(p.batch);
  };
  auto const rows = static_cast<double>(p.m), cols = static_cast<double>(p.n);
  double const sums = rows * cols * static_cast<double>(p.batch);
  double const results = c.gated() ? sums / 2 : sums;
  double const operands = (rows * matrices(p.a) + cols * matrices(p.b)) * static_cast<double>(p.k) *
                          size_bytes(c.a.stored);
  double const c_bytes = p.c && p.beta != 0 ? results * size_bytes(p.c->type) : 0;
  double const aux_bytes = c.aux() ? sums * size_bytes(c.d) : 0;
  // bf16 flop of the same bytes of K: all types take the same time for them.
  double const flop =
      2 * sums * static_cast<double>(p.k) * size_bytes(c.a.multiplied) / size_bytes(elem::bf16);

  predicted_times r;
  r.tensor_us = us(flop / static_cast<double>(dev.mma_flop_per_clock) / dev.sm_count);
  constexpr int multiplies_of_block = sm100_cta::stage_multiplies;
  double const multiplies =
      multiplies_of_block * multiply_clocks(c.ctas, c.tile_n, m) / m.efficiency;
  double const promotion = promotion_clocks(p, c);
  double const tile = k_blocks * std::max(multiplies, promotion);
  r.promotion_us = us(of_cluster * k_blocks * promotion);
  r.additions_us = us(of_cluster * (tile - k_blocks * multiplies));
  r.math_us = us(of_cluster * tile + m.first_multiply_clocks);
  double const read =
      k_blocks * multiplies_of_block * mma_k_bytes * (sm100_cta::rows + c.b_share());
  r.shared_memory_us = us(of_cluster * (k_blocks * c.stage_bytes() + read) /
                          static_cast<double>(dev.smem_bytes_per_clock));
  r.loads_us = us(tiles * c.ctas * k_blocks * c.stage_bytes() / g.load_bytes_per_clock);
  double const scales = scale_bytes(p);
  r.dram_us =
      (operands + scales + results * size_bytes(c.d) + aux_bytes + c_bytes) / g.dram_bytes_per_us;
  double const stored = 1.0 * sm100_cta::rows * (c.d_cols() + (c.aux() ? c.tile_n : 0)) *
                        (size_bytes(c.d) / g.epilogue_bytes_per_clock *
                             (extra.plain_stores ? g.epilogue_plain_store_factor : 1) +
                         (c.fused() ? g.epilogue_fused_clocks : 0));
  // Warps that store a tile do not add K blocks: the multiplies run ahead by as many as there are
  // accumulators, as far as they are slower than the additions that catch up.
  double const beside = !c.block_scales
                            ? tile
                            : std::min(multiplies * std::min(k_blocks, 1.0 * c.accumulators()),
                                       tile - k_blocks * promotion);
  double const exposed = std::max(0.0, us(stored) - us(beside)) * (of_cluster - 1);
  r.epilogue_us = us(stored) + exposed;
  add_launch_and_total(r, c.ctas, extra, g);
  return r;
}

}  // namespace tw::sm100_gemm_family
