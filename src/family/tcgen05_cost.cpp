// SPDX-License-Identifier: Apache-2.0
// tcgen05_cost.cpp  Clocks of a multiply, and the sum of the parts that overlap.
#include "family/tcgen05_cost.hpp"

#include <algorithm>
#include <cmath>

#include "tilewright/kernel/sm100/cta.hpp"

namespace tw {

double multiply_clocks(int ctas, int tile_n, sm100_calibration const& m) {
  double const n = tile_n, rows = sm100_cta::rows;
  if (ctas == 1) return std::max(n / m.columns_per_clock, (rows + n) / m.operand_rows_per_clock);
  // A pair reads half of B in each CTA.
  return std::max(n / m.columns_per_clock, m.pair_clocks + m.pair_clocks_per_column * n);
}

int resident_tcgen05_clusters(int ctas, device const& dev) {
  return std::max(1, dev.sm_count / ctas);
}

void add_launch_and_total(predicted_times& r, int ctas, extra_work const& extra,
                          gemm_calibration const& g) {
  r.launch_us = g.launch_us + (ctas > 1 ? g.cluster_launch_us : 0);
  if (extra.copied_bytes > 0)
    r.copies_us = g.copy_launch_us + extra.copied_bytes / g.copy_bytes_per_us;
  auto const power = [&](double x) { return std::pow(x, g.overlap_exponent); };
  r.total_us =
      r.launch_us + r.copies_us + r.epilogue_us +
      std::pow(power(r.math_us) + power(r.loads_us) + power(r.dram_us), 1 / g.overlap_exponent);
}

}  // namespace tw
