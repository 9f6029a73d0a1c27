// SPDX-License-Identifier: Apache-2.0
// plans.cpp  A plan for each schedule of a kernel, and the time and the texts of a plan.
#include "family/sm90_gemm/plans.hpp"

#include <fmt/format.h>

#include "family/bind.hpp"
#include "family/report_texts.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/early_start.hpp"
#include "family/sm90_gemm/equal_groups.hpp"
#include "family/sm90_gemm/l2_hints.hpp"
#include "family/sm90_gemm/raster.hpp"
#include "family/sm90_gemm/schedules.hpp"
#include "family/sm90_gemm/terms.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

namespace {

/// The problem with the leading dimensions that the kernel loads with, and what TMA cannot address.
gemm_problem as_loaded(gemm_plan const& plan, odd_matrices& odd) {
  gemm_problem q = plan.normal;
  odd.d = plan.direct_d;
  odd.copied_bytes = copied_bytes(plan);
  if (q.groups && q.groups->gather_from > 0) {
    gemm_config const c = launched(plan);
    std::int64_t const of_tile = q.groups->axis == group_axis::m ? c.tile_m : c.tile_n;
    std::int64_t const rows = std::min(of_tile, expected_size_of(q));
    if (rows > rows_without_gather_cost) odd.gathered_rows = static_cast<double>(rows);
  }
  for (role const x : a_and_b) {
    matrix_desc& m = *matrix_of(q, x);
    odd.transposed[x] = plan.from[x] && plan.from[x]->ord != m.ord;
    if (plan.repitch[x]) m.pitch_elems = padded_copy(m, extents_of(q, x), q.batch).pitch_elems;
  }
  return q;
}

/// The groups of a plan, their expected size, and the time if one group has all.
std::string groups_text(gemm_plan const& p, device const& dev) {
  gemm_plan one = p;
  one.normal.groups->count = 1, one.normal.groups->expected_size = 0;
  if (one.normal.groups->slots()) one.normal.groups->form = group_form::ends;
  group_desc const& g = *p.normal.groups;
  return fmt::format(", {} groups of {} {} (predicted for {} of {} each; {:.1f} us if one has all)",
                     g.count,
                     g.axis == group_axis::m   ? "rows"
                     : g.axis == group_axis::n ? "columns"
                                               : "K",
                     g.slots() ? "in slots" : "in all", g.count, expected_size_of(p.normal),
                     cost_of(one, dev).total_us);
}

/// plan.why, from the plan's terms and `t`.
std::string why(gemm_plan const& p, cost const& t, device const& dev) {
  gemm_config const c = launched(p);
  tile_split const s = tile_split_of(p);
  std::string work =
      fmt::format("{} of {}x{} on {}", counted(s.tiles, "cluster tile"), c.tile_m * c.cluster_m,
                  c.tile_n * c.cluster_n, counted(s.clusters, "cluster"));
  if (s.split_k_tiles > 0)
    work += fmt::format(", {} of them split along K among {}", s.split_k_tiles, s.split_k_clusters);
  if (p.normal.groups) work += groups_text(p, dev);
  if (c.a_in_registers()) work += fmt::format(", {} read into registers", p.swapped ? "B" : "A");
  if (c.promote_k() > 0)
    work += fmt::format(", sums promoted every {} of K{}, {:.0f} % of the math", c.promote_k(),
                        c.scaled() ? " with their scales" : "",
                        100 * promotion_share_of(*dev.model, p.normal, c));
  work += fmt::format(", {} in bands of {}", order_names[static_cast<int>(p.schedule.raster)],
                      p.schedule.band);
  std::string const parts = fmt::format(
      "launch {:.1f}, math {:.1f}, loads {:.1f}, DRAM {:.1f}, epilogue {:.1f}, reduction of "
      "split-K parts {:.1f}, copies {:.1f}",
      p.terms.launch, t.math_us, t.loads_us, t.dram_us, t.epilogue_us, t.split_k_us, t.copies_us);
  return why_text(p, work, parts, t.total_us);
}

}  // namespace

cost cost_of(gemm_plan const& plan, device const& dev) {
  odd_matrices odd;
  gemm_problem const loaded = as_loaded(plan, odd);
  return predict(equal_groups(loaded), launched(plan), tile_split_of(plan), dev, odd);
}

void add_schedules(gemm_plan plan, device const& dev, std::int64_t workspace_bytes,
                   std::vector<gemm_plan>& plans) {
  odd_matrices odd;
  gemm_problem const model = equal_groups(as_loaded(plan, odd));
  gemm_problem const& q = plan.normal;
  for (int const cols : tile_cols_of(config_of(plan), model.n)) {
    gemm_config const c = launched(config_of(plan), cols);
    for (tile_split const& s : tile_splits(q, c, dev)) {
      plan.schedule = {.clusters = s.clusters,
                       .tile_cols = cols,
                       .split_k_tiles = s.split_k_tiles,
                       .split_k_clusters = s.split_k_clusters};
      plan.kernel = plan.family->name(plan.instance, plan.schedule);
      if (s.split_k_tiles > 0 && (workspace_of(plan).bytes > workspace_bytes ||
                                  counter_bytes(q, c, s) > gemm_workspace_zeros))
        continue;
      plan.predicted_us = predict(model, c, s, dev, odd).total_us;
      plans.push_back(plan);
    }
  }
}

void finish_plan(gemm_plan& plan, int ctas, device const& dev) {
  cost const t = cost_of(plan, dev);
  tile_split const s = tile_split_of(plan);
  choose_raster(plan, dev);
  gemm_problem const q = equal_groups(plan.normal);
  plan.schedule.l2 = l2_hints_of(launched(plan), ctas, q, dev);
  plan.terms = terms_of(q, launched(plan), s, t, dev);
  plan.starts_early = starts_early(plan, s, t, dev);
  plan.why = why(plan, t, dev);
}

std::string schedule_text(plan_schedule const& s) {
  std::string text = counted(s.clusters, "cluster");
  if (s.split_k_tiles > 0)
    text += fmt::format(", {} split along K among {}", counted(s.split_k_tiles, "tile"),
                        s.split_k_clusters);
  return text;
}

}  // namespace tw
