// SPDX-License-Identifier: Apache-2.0
// early_start.hpp  Does it pay to start while the launch before ends?
#pragma once

#include <algorithm>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/cost.hpp"

namespace tw {

/// The rule for plans of which it was not measured, drawn from 587 of which it was on an H200: it
/// agrees with 9 of 10 of them (docs/decisions/0024). Setting up takes a microsecond or two, 3 to
/// 10 % of short GEMMs; early CTAs cluster on the SMs that are free first, and
/// DRAM-bound GEMMs lose up to 25 % by that.
inline bool starts_early(gemm_plan const& plan, tile_split const& s, cost const& t,
                         device const& dev) {
  early_start_calibration const& m = dev.model->early_start;
  if (t.total_us >= m.max_us) return false;
  gemm_config const& c = config_of(plan);
  int const ctas = s.clusters * c.cluster();
  // With 4-bit weights all of 37 plans that were measured gain (docs/decisions/0091).
  if (c.weights() && !c.grouped() && t.copies_us == 0) return true;
  bool const two_fit = c.stages * (c.tile_m + c.tile_n) <=
                       m.two_ctas_max_stage_rows;  // CTAs of an SM, by their stages
  gemm_problem const& q = plan.normal;
  bool const one = q.m <= c.tile_m || q.n <= c.tile_n;
  // CTAs on almost all SMs, and each weight is loaded once. The shorter side of D has at most
  // `side` elements, as in the problems that were measured.
  auto const weights_once = [&](int side) {
    return ctas >= m.single_tile_min_ctas && one && !two_fit && std::min(q.m, q.n) <= side;
  };
  // Of 8-bit operands without scales in the main loop, 80 of 97 plans of at most a CTA for each SM
  // gain or lose so (docs/decisions/0071): the CTAs of both launches fit, or a few SMs are free.
  // All of 12 plans that load each weight once gain (0091). If both launches fit, plans of 9 us and
  // more gain with scales of rows; without, they gain in one run and lose in the next (0092).
  if (size_bytes(c.a.multiplied) == 1 && !c.scaled() && ctas <= dev.sm_count && t.copies_us == 0) {
    // Shares of the SMs: both launches fit; a few SMs are free, at least and at most; all.
    constexpr double both_fit = 0.5, few_free_from = 0.73, few_free_to = 0.95, all = 1;
    constexpr double both_fit_max_us = 9;
    constexpr double few_free_max_us = 30;  // with a tile for each CTA; longer plans lose
    double const share = static_cast<double>(ctas) / dev.sm_count;
    bool const few_free = share > few_free_from && share < few_free_to && s.tiles <= s.clusters &&
                          t.total_us < few_free_max_us;
    bool const steady =
        t.total_us < both_fit_max_us || row_scale_clocks(q, dev.model->scales, c) > 0;
    return (share <= both_fit && steady) || few_free || share == all || weights_once(128);
  }
  if (t.reads_us + t.copies_us < m.max_read_share * t.total_us) return true;
  if (t.copies_us > 0) return false;

  // With scales in the main loop, 74 of 81 plans that were measured gain (docs/decisions/0059).
  if (c.scaled()) return true;
  if (s.split_k_tiles > 0)
    return ctas <= m.split_k_max_ctas || two_fit;  // a CTA of each launch on a TPC
  if (c.cluster_k > 1) return ctas >= m.cluster_k_min_ctas;
  return weights_once(64);
}

}  // namespace tw
