// SPDX-License-Identifier: Apache-2.0
// cost.cpp  Tensor cores, shared memory, loads from L2 and DRAM overlap; the epilogue is hidden
//           where an SM holds another CTA.
#include "family/sm80_gemm/cost.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/device/sm_limits.hpp"

namespace tw::sm80_gemm_family {

int ctas_per_sm(sm80_config const& c, device const& dev) {
  constexpr int reserved_bytes = reserved_cta_smem_bytes;
  int const smem = c.stages * c.stage_bytes() + reserved_bytes;
  std::int64_t const by_smem = (dev.max_smem_bytes_per_cta + reserved_bytes) / smem;
  int const accumulators = c.warp_m() * c.warp_n() / warp_threads;
  int const registers = sm_limits::registers / (accumulators >= 128  ? 256
                                                : accumulators >= 64 ? 168
                                                                     : 128);
  return static_cast<int>(std::clamp<std::int64_t>(by_smem, 1, registers / c.threads()));
}

predicted_times predict(gemm_problem const& p, sm80_config const& c, device const& dev,
                        double copied_bytes) {
  gemm_calibration const& g = dev.model->gemm;
  sm80_calibration const& m = dev.model->sm80;
  auto const us = [&](double clocks) { return clocks / (g.clock_ghz * 1000); };
  // Tensor cores that have wgmma reach their rate with it alone.
  double const share = dev.compute_capability >= 90 ? m.mma_sync_share : 1;
  double const k_share = c.mma_k == 8 ? m.k8_share : 1;
  double const rate = static_cast<double>(dev.mma_flop_per_clock) * share * k_share;
  double const tiles = static_cast<double>(divide_up(p.m, c.tile_m)) *
                       static_cast<double>(divide_up(p.n, c.tile_n)) * static_cast<double>(p.batch);
  double const k_tiles = static_cast<double>(divide_up(p.k, c.tile_k));
  double const of_sm = std::ceil(tiles / dev.sm_count);  // tiles of the busiest SM
  int const resident = ctas_per_sm(c, dev);
  double const tile = 2.0 * c.tile_m * c.tile_n * c.tile_k * k_tiles / rate;
  // A CTA alone on an SM waits for its own barriers.
  double const alone = resident == 1 || of_sm < 2 ? m.efficiency_one_cta : m.efficiency;
  double const warps = std::min(1.0, static_cast<double>(c.threads()) / warpgroup_threads *
                                         std::min<double>(resident, of_sm));
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(p.batch);
  };
  auto const rows = static_cast<double>(p.m), cols = static_cast<double>(p.n);
  double const operands =
      (rows * matrices(p.a) + cols * matrices(p.b)) * static_cast<double>(p.k) * size_bytes(c.ab);
  double const products = rows * cols * static_cast<double>(p.batch);  // elements of A B
  double const results = c.gated() ? products / 2 : products;
  double const aux_bytes = c.aux() ? size_bytes(c.d) : 0;  // of each element of A B
  double const c_bytes = p.c && p.beta != 0 ? results * size_bytes(p.c->type) : 0;

  predicted_times r;
  r.tensor_us = us(2 * products * static_cast<double>(p.k) / rate / dev.sm_count);
  r.math_us = std::max(r.tensor_us, us(of_sm * tile / (alone * warps)));
  double const warps_read = 2.0 * c.threads() / warp_threads * (c.warp_m() + c.warp_n()) * c.tile_k;
  r.shared_memory_us = us(of_sm * k_tiles * (c.stage_bytes() + warps_read) /
                          static_cast<double>(dev.smem_bytes_per_clock));
  r.loads_us = us(tiles * k_tiles * c.stage_bytes() / g.load_bytes_per_clock);
  r.dram_us =
      (operands + results * size_bytes(c.d) + products * aux_bytes + c_bytes) / g.dram_bytes_per_us;
  double const sums = static_cast<double>(c.tile_m) * c.tile_n;
  double const stored_bytes = c.tile_m * c.d_cols() * size_bytes(c.d) + sums * aux_bytes;
  double const epilogue =
      stored_bytes / m.epilogue_bytes_per_clock + (c.fused() ? sums * g.epilogue_fused_clocks : 0);
  r.epilogue_us = us(epilogue * std::ceil(of_sm / resident));
  r.launch_us = g.launch_us + m.fill_us;
  if (copied_bytes > 0) r.copies_us = g.copy_launch_us + copied_bytes / g.copy_bytes_per_us;
  auto const power = [&](double x) { return std::pow(x, g.overlap_exponent); };
  r.total_us =
      r.launch_us + r.copies_us + r.epilogue_us +
      std::pow(power(r.math_us) + power(r.shared_memory_us) + power(r.loads_us) + power(r.dram_us),
               1 / g.overlap_exponent);
  if (dev.compute_capability >= 90)
    for (double* const term : {&r.launch_us, &r.copies_us, &r.epilogue_us, &r.math_us,
                               &r.shared_memory_us, &r.loads_us, &r.dram_us, &r.total_us})
      *term *= m.hopper_factor;
  return r;
}

}  // namespace tw::sm80_gemm_family
