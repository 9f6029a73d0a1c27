// SPDX-License-Identifier: Apache-2.0
// plan.cpp  Problem -> accept -> candidates -> cost -> plan.
#include <fmt/format.h>

#include <algorithm>

#include "dispatch/cost.hpp"
#include "dispatch/early_start.hpp"
#include "dispatch/folded.hpp"
#include "dispatch/gemv.hpp"
#include "dispatch/launcher_of.hpp"
#include "dispatch/no_kernel.hpp"
#include "dispatch/normal_form.hpp"
#include "dispatch/params.hpp"
#include "dispatch/plan_log.hpp"
#include "dispatch/raster.hpp"
#include "dispatch/terms.hpp"
#include "dispatch/tuned.hpp"
#include "dispatch/winners.hpp"
#include "dispatch/workspace.hpp"
#include "family/sm90_gemm/instances.hpp"
#include "family/sm90_gemm/launchers.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/fixup_size.hpp"
#include "tilewright/pipeline/work.hpp"

namespace tw {

namespace {

std::string slower_path(char const* matrix, matrix_desc const& m, char const* consequence) {
  return fmt::format(
      "{}: pitch of {} bytes, {}or its base is not a multiple of 16 bytes, which TMA "
      "needs; {}. A padded pitch avoids this",
      matrix, m.pitch_elems * size_bytes(m.type),
      m.batch_stride_elems <= 0
          ? ""
          : fmt::format("batch stride of {} bytes ", m.batch_stride_elems * size_bytes(m.type)),
      consequence);
}

std::string split_sectors(char const* matrix, matrix_desc const& m) {
  return fmt::format(
      "{}: pitch of {} bytes, no multiple of 32: lines that TMA reads begin inside of L2's "
      "sectors, and loads take twice the time. A padded pitch avoids this",
      matrix, m.pitch_elems * size_bytes(m.type));
}

/// Running numbers are ints. accept() limits D to 2^43 elements: the large tiles always fit.
constexpr std::int64_t most_tiles = std::int64_t{1} << 30;

/// Clusters that run at the same time: GPCs have 16 or 18 SMs, which larger clusters do not fill.
int resident_clusters(gemm_config const& c, device const& dev) {
  int const found = c.cluster() <= 2       ? dev.sm_count
                    : c.cluster() % 2 == 0 ? dev.sms_in_clusters_of_4
                                           : dev.sms_in_clusters_of_3;
  return std::max(1, found / c.cluster());
}

/// Columns of its tiles that a kernel which narrows may have for `n` of B: for each number of tiles
/// as few as they can have.
std::vector<int> tile_cols_of(gemm_config const& c, std::int64_t n) {
  if (!c.narrows()) return {0};
  std::vector<int> all;
  for (int cols = c.tile_n; cols >= c.least_n; cols -= 8) {
    std::int64_t const of_cluster = std::int64_t{cols} * c.cluster_n;
    std::int64_t const tiles = (n + of_cluster - 1) / of_cluster * c.cluster_n;
    auto const fewest = static_cast<int>((n + 8 * tiles - 1) / (8 * tiles) * 8);
    if (std::max(fewest, c.least_n) == cols) all.push_back(cols);
  }
  return all;
}

/// The ways to hand out a configuration's tiles: each tile to one cluster; all tiles shared by all
/// clusters; the last wave shared.
std::vector<sharing> sharings(gemm_problem const& q, gemm_config const& c, device const& dev) {
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::int64_t const m_tiles = up(q.m, c.tile_m * c.cluster_m);
  std::int64_t const n_tiles = up(q.n, c.tile_n * c.cluster_n);
  std::int64_t const tiles = m_tiles * n_tiles * q.batch;
  int const most = resident_clusters(c, dev);
  std::int64_t const k_tiles = up(q.k, gemm_config::tile_k);
  if (tiles > most_tiles) return {};
  int const n = static_cast<int>(tiles);
  // Whole tiles: the fewest clusters that need no more waves than all would (64 in place of 66
  // gain 1 % at 8192^3; docs/decisions/0005).
  std::vector<sharing> all{{n, static_cast<int>(up(tiles, up(tiles, most))), 0, 0}};
  if (c.cluster_k > 1 && (tiles > most || k_tiles < 4 * c.cluster_k))
    return {};  // they are for a wave of tiles, and no part of fewer than 4 K blocks
  if (!c.shares_tiles()) return all;
  int const rest = n % most;
  for (int const shared : {n, rest}) {
    if (shared <= 0 || shared % most == 0) continue;
    if (shared == n && all.size() > 1) continue;  // met already
    // Parts lose the neighbourhood of tiles that keeps operands in L2, which costs 5 to 20 % where
    // there is more than a wave. It does not matter where one operand is a single tile.
    if (n > most && std::min(m_tiles, n_tiles) > 1) continue;
    // A part of fewer than 4 K blocks is not worth its meeting.
    std::int64_t const blocks = shared * k_tiles;
    int const sharers = static_cast<int>(std::min<std::int64_t>(most, up(blocks, 4)));
    if (sharers < most && sharers <= shared) continue;  // parts of a tile and more
    if (blocks >= std::int64_t{1} << 31) continue;
    auto const add = [&](int by) {
      all.push_back({n, std::max(by, n > shared ? most : 1), shared, by});
    };
    add(sharers);
    // As many parts of each tile: none is of two; and as many as are added in one step.
    int const parts = sharers / shared, in_one_step = std::min(parts, fixup_group(c.tile_n));
    if (parts > 1 && parts * shared < sharers) add(parts * shared);
    if (in_one_step > 1 && in_one_step < parts) add(in_one_step * shared);
  }
  return all;
}

bool counters_fit(gemm_problem const& q, gemm_config const& c, sharing const& s) {
  int const k_tiles = static_cast<int>((q.k + c.tile_k - 1) / c.tile_k);
  int const parts = make_work_plan(s.tiles, k_tiles, s.shared, s.sharers).most_parts();
  return std::int64_t{s.shared} * c.writers() * fixup_counters(parts, c.tile_n) * 4 <=
         gemm_workspace_zeros;
}

std::string why(gemm_plan const& p, cost const& t, sharing const& s, std::size_t of) {
  gemm_config const c = p.launched();
  std::string text = p.swapped ? "the transposed product: " : "";
  if (p.normal.batch != p.problem.batch) text += "the batch as one GEMM: ";
  text += fmt::format("{} cluster tile{} of {}x{} on {} cluster{}", s.tiles,
                      s.tiles == 1 ? "" : "s", c.tile_m * c.cluster_m, c.tile_n * c.cluster_n,
                      s.clusters, s.clusters == 1 ? "" : "s");
  if (s.shared > 0) text += fmt::format(", {} of them shared by {}", s.shared, s.sharers);
  text += fmt::format(", {} in bands of {}", order_names[static_cast<int>(p.raster)], p.band);
  return text +
         fmt::format(
             "; predicted for {}: {:.1f} us (launch {:.1f}, math {:.1f}, loads {:.1f}, DRAM "
             "{:.1f}, epilogue {:.1f}, adding shared parts {:.1f}, copies {:.1f}), of {} plan{}",
             p.predicted_for, t.total_us, p.terms.launch, t.math_us, t.loads_us, t.dram_us,
             t.epilogue_us, t.meeting_us, t.copies_us, of, of == 1 ? "" : "s");
}

bool is_plan(winner const& w, gemm_plan const& p) {
  if (w.gemv.rows > 0 || p.gemv) {
    gemv_shape const& s = w.gemv;
    return p.gemv && *p.gemv == gemv_config{p.gemv->ab, p.gemv->d, s.rows,    s.cols,
                                            s.unroll,   s.warps_m, s.warps_k, s.ctas_per_sm};
  }
  gemm_config const c = p.launched();
  tile_shape const& t = w.tile;
  return t.tile_m == c.tile_m && t.tile_n == c.tile_n && t.cluster_m == c.cluster_m &&
         t.cluster_n == c.cluster_n && t.cluster_k == c.cluster_k && t.stages == c.stages &&
         t.pingpong == c.pingpong && t.d_m == c.d_m && t.fused == c.fused &&
         w.shared_tiles == p.shared_tiles && w.sharers == p.sharers;
}

bool is_plan(measured_plan const& m, gemm_plan const& p) {
  return m.same_plan({p.kernel, p.swapped, p.shared_tiles, p.sharers});
}

struct option {
  gemm_plan plan;
  cost time;
  sharing tiles;
  plan_source source = plan_source::model;  // the later, the better
  double measured_us = 0;
  std::optional<bool> starts_early{};  // as measured
};

bool all_aligned(gemm_operands const& o) {
  auto const bits = [](void const* p) { return reinterpret_cast<std::uintptr_t>(p); };
  return (bits(o.a) | bits(o.b) | bits(o.d)) % 16 == 0;
}

/// The product with the pitches that the kernel loads from, and what TMA cannot address in it.
gemm_problem as_loaded(gemm_plan const& plan, odd_matrices& odd) {
  gemm_problem q = plan.normal;
  auto const copy = [&](matrix_desc& m, extents e) {
    padded const target = padded_copy(m, e, q.batch);
    m.pitch_elems = target.pitch_elems;
    odd.copied_bytes += static_cast<double>(target.bytes);
  };
  odd.d = plan.direct_d;
  if (plan.repitch_a) copy(q.a, extents_of_a(q));
  if (plan.repitch_b) copy(q.b, extents_of_b(q));
  return q;
}

/// All plans, best first; their `why` is not written yet.
std::vector<option> ranked(gemm_problem const& p, gemm_operands const& given, device const& dev) {
  if (auto r = accept(p)) throw rejected(*r);
  if (auto r = accept(dev)) throw rejected(*r);
  std::int64_t const workspace_bytes = std::max<std::int64_t>(0, given.workspace_bytes);
  gemm_problem const whole = folded(p);
  auto const measured = all_aligned(given) ? find_winner(whole, dev) : std::optional<winner>();
  tuned_answer const tuned = all_aligned(given) ? find_tuned(p, dev) : tuned_answer{};
  std::vector<option> options;
  bool const gated = p.epilogue.gate != gating::none;
  auto const add = [&](gemm_plan const& plan, cost const& time, sharing const& tiles) {
    option& x = options.emplace_back(option{plan, time, tiles, plan_source::model, 0});
    if (measured && is_plan(*measured, plan)) {
      x.source = plan_source::table_of_winners, x.measured_us = measured->us;
      x.starts_early = measured->starts_early;
      x.plan.measured_in_bf16 = measured->ab != p.a.type;
    }
    if (tuned.fastest && is_plan(*tuned.fastest, plan)) {
      x.source = plan_source::tuned, x.measured_us = tuned.fastest->us;
      x.plan.measured_in_bf16 = false;
      if (tuned.fastest->starts_early) x.starts_early = tuned.fastest->starts_early;
    }
  };
  for (bool const swapped : {false, true}) {
    if (swapped && gated) break;
    gemm_plan base;
    base.problem = p;
    base.swapped = swapped;
    base.normal = swapped ? transposed(whole) : whole;
    gemm_operands const o = swapped ? transposed(given) : given;
    gemm_problem const& q = base.normal;
    operand_major const a = major_of_a(q.a), b = major_of_b(q.b);
    bool const d_m = q.d.ord == order::col_major;
    base.repitch_a = !tma_addressable(q.a, a == operand_major::k ? q.m : q.k, q.batch, o.a);
    base.repitch_b = !tma_addressable(q.b, b == operand_major::k ? q.n : q.k, q.batch, o.b);
    base.direct_d = !tma_addressable(q.d, d_m ? result_cols(q.epilogue, q.n) : q.m, q.batch, o.d);
    char const* const first = swapped ? "B" : "A";
    char const* const second = swapped ? "A" : "B";
    if (!tuned.trouble.empty()) base.hints.push_back(tuned.trouble);
    if (base.repitch_a)
      base.hints.push_back(
          slower_path(first, q.a, "it is copied to a padded pitch in the workspace first"));
    if (base.repitch_b)
      base.hints.push_back(
          slower_path(second, q.b, "it is copied to a padded pitch in the workspace first"));
    if (!base.repitch_a && splits_sectors(q.a, a == operand_major::k ? q.m : q.k))
      base.hints.push_back(split_sectors(first, q.a));
    if (!base.repitch_b && splits_sectors(q.b, b == operand_major::k ? q.n : q.k))
      base.hints.push_back(split_sectors(second, q.b));
    if (base.direct_d) base.hints.push_back(slower_path("D", q.d, "it is written by plain stores"));

    odd_matrices odd;
    gemm_problem const loaded = as_loaded(base, odd);
    for (gemv_option const& x : gemv_options(base, dev)) add(x.plan, x.time, x.tiles);
    for (std::size_t index = 0; index < sm90_gemm_family::instances().size(); ++index) {
      sm90_gemm_family::instance const& i = sm90_gemm_family::instances()[index];
      gemm_config const& c = i.config;
      if (!computes(c, q)) continue;
      base.config = c;
      base.built = sm90_gemm_family::emu_launchers()[index] != nullptr;
      for (int const cols : tile_cols_of(c, q.n)) {
        base.tile_cols = cols;
        gemm_config const l = base.launched();
        base.kernel = i.name(l.tile_n);
        for (sharing const& s : sharings(q, l, dev)) {
          base.clusters = s.clusters;
          base.shared_tiles = s.shared;
          base.sharers = s.sharers;
          base.workspace_bytes = workspace_of(base).bytes;
          // Sharing is a choice; copies are not: the launch refuses a workspace that lacks them.
          bool const room = s.shared == 0 || base.workspace_bytes <= workspace_bytes;
          if (!room || !counters_fit(q, l, s)) continue;
          cost const time = predict(loaded, l, s, dev, odd);
          base.predicted_us = time.total_us;
          add(base, time, s);
        }
      }
    }
  }
  if (options.empty()) throw rejected(no_kernel(p));
  std::stable_sort(options.begin(), options.end(), [](option const& x, option const& y) {
    if (x.source != y.source) return x.source > y.source;
    return x.time.total_us < y.time.total_us;
  });
  return options;
}

/// Removes plans whose kernel this build lacks. Throws `rejected` TW0505 where none is left.
void keep_built(std::vector<option>& options) {
  gemm_plan const best = options.front().plan;
  std::erase_if(options, [](option const& x) { return !x.plan.built; });
  if (options.empty()) throw rejected(kernel_not_built(best));
  if (!best.built) options.front().plan.missed = best.kernel;
}

gemm_plan finished(option const& x, std::size_t of, device const& dev) {
  gemm_plan plan = x.plan;
  plan.predicted_for = label(dev);
  if (plan.gemv) {
    gemv_option const y{plan, x.time, x.tiles};
    plan.why = gemv_why(y, of);
    plan.terms = gemv_terms(y, dev);
  } else {
    choose_raster(plan, dev);
    plan.l2 = l2_hints_of(plan.launched(), plan.clusters * plan.config.cluster(), plan.normal, dev);
    plan.terms = terms_of(plan.normal, plan.launched(), x.tiles, x.time, dev);
    plan.why = why(plan, x.time, x.tiles, of);
  }
  plan.starts_early = x.starts_early.value_or(starts_early(x.plan, x.tiles, x.time, dev));
  plan.early_measured = x.starts_early.has_value();
  plan.source = x.source;
  plan.measured_us = x.measured_us;
  if (x.source == plan_source::table_of_winners)
    plan.why += fmt::format("; measured to be the fastest on {}{}", dev.name,
                            plan.measured_in_bf16 ? ", in bf16" : "");
  if (x.source == plan_source::tuned) plan.why += "; measured to be the fastest on this GPU";
  return plan;
}

}  // namespace

double predicted_us(gemm_plan const& plan, device const& dev) {
  if (auto r = accept(dev)) throw rejected(*r);
  if (plan.gemv) return gemv_predicted_us(plan, dev);
  gemm_config const c = plan.launched();
  odd_matrices odd;
  gemm_problem const loaded = as_loaded(plan, odd);
  auto const up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  std::int64_t const tiles = up(plan.normal.m, c.tile_m * c.cluster_m) *
                             up(plan.normal.n, c.tile_n * c.cluster_n) * plan.normal.batch;
  sharing const s{static_cast<int>(tiles), plan.clusters, plan.shared_tiles, plan.sharers};
  return predict(loaded, c, s, dev, odd).total_us;
}

std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev, kernel_set kernels) {
  std::vector<option> options = ranked(p, o, dev);
  if (kernels == kernel_set::built) keep_built(options);
  std::vector<gemm_plan> plans;
  for (option const& x : options) plans.push_back(finished(x, options.size(), dev));
  return plans;
}

gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, device const& dev) {
  std::vector<option> options = ranked(p, o, dev);
  keep_built(options);
  gemm_plan plan = finished(options.front(), options.size(), dev);
  log_plan(plan, o, dev);
  return plan;
}

std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o,
                                       int h200_sms) {
  return plan_candidates(p, o, with_sm_count(known_device("h200"), h200_sms));
}

gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, int h200_sms) {
  return plan_gemm(p, o, with_sm_count(known_device("h200"), h200_sms));
}

}  // namespace tw
