// SPDX-License-Identifier: Apache-2.0
// plan.cpp  Problem -> accept -> plans of all families -> rank -> plan.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/no_kernel.hpp"
#include "dispatch/plan/plan_log.hpp"
#include "dispatch/plan/staged.hpp"
#include "dispatch/tuning/tuned.hpp"
#include "dispatch/tuning/winners.hpp"
#include "family/as_run.hpp"
#include "family/bind.hpp"
#include "family/launcher_of.hpp"
#include "family/normal_form.hpp"
#include "family/ordered_rows.hpp"
#include "family/workspace.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

std::string slower_path(char const* matrix, matrix_desc const& m, char const* consequence) {
  return fmt::format(
      "{}: leading dimension of {} bytes, {}or its base is not a multiple of 16 bytes, which TMA "
      "needs; {}. A padded leading dimension avoids this",
      matrix, m.pitch_bytes(),
      m.batch_stride_elems <= 0 ? ""
                                : fmt::format("batch stride of {} bytes ", m.batch_stride_bytes()),
      consequence);
}

/// Why an operand of 8 or 32 bits is copied first.
std::string rearranged_path(char const* matrix, matrix_desc const& from, matrix_desc const& to,
                            std::int64_t elems) {
  double const mb = static_cast<double>(elems * size_bits(to.type) / 8) * 1e-6;
  if (from.ord == to.ord)
    return slower_path(matrix, from, "it is copied to padded lines in the workspace first");
  return fmt::format(
      "{}: wgmma reads {} operands from shared memory contiguous along K only; it is transposed in "
      "the workspace first ({:.1f} MB): no kernel reads it into registers, or the copy is "
      "predicted to be faster. {} avoids this",
      matrix, name(multiplied_type(to.type)), mb,
      matrix[0] == 'A' ? "A stored as (M, K) row by row" : "B stored as (N, K) row by row");
}

/// Never promoted over more elements of K than this, the proven bound of a sum is above an eighth
/// of the sum of the magnitudes of its terms: 34 of 2^-13 for each wgmma of 32 (error_bound.hpp).
constexpr std::int64_t longest_k_unpromoted = 960;
bool is_long_unpromoted(gemm_problem const& p) {
  return is_fp8(p.a.type) && p.precision.promote_k == 0 && !scales_in_main_loop(p) &&
         p.k > longest_k_unpromoted;
}
std::string unpromoted(gemm_problem const& p) {
  return fmt::format(
      "sums of 8-bit floats are never promoted: over K = {} the bound of their error is {:.2g} of "
      "the sum of the magnitudes of their terms; promoted every 128 elements "
      "(gemm_problem::precision.promote_k = 128) it "
      "is 0.017 for any K",
      p.k, static_cast<double>(p.k) / 32 * 34 / 8192);
}

std::string split_sectors(char const* matrix, matrix_desc const& m) {
  return fmt::format(
      "{}: leading dimension of {} bytes is not a multiple of 32: TMA rows straddle L2 "
      "sectors, and loads take twice the time. A padded leading dimension avoids this",
      matrix, m.pitch_bytes());
}

/// The measurement of a problem.
struct measurements {
  std::optional<winner> shipped;  // of a tuning table
  tuned_answer tuned;             // on this GPU
};

measurements measured_for(gemm_problem const& p, gemm_problem const& whole, gemm_operands const& o,
                          device const& dev) {
  auto const bits = [](void const* x) { return reinterpret_cast<std::uintptr_t>(x); };
  if ((bits(o.a) | bits(o.b) | bits(o.d)) % 16 != 0) return {};
  return {find_winner(whole, dev), find_tuned(p, dev)};
}

/// A plan that may have been measured.
struct option {
  gemm_plan plan;
  plan_source source = plan_source::model;  // the later, the better
  double measured_us = 0;
  std::optional<bool> starts_early{};  // as measured
  double ranked_us = 0;                // predicted, with a handicap for less exact sums
};

/// Sums in f16 are less exact, and the tensor cores are no faster with them: a plan that has them
/// comes before others if it is predicted to gain this share of the time.
constexpr double least_gain_of_f16_sums = 0.01;
double ranked_us_of(gemm_plan const& p) {
  bool const f16_sums =
      p.problem.precision.f16_sums && p.family->facts(p.instance).precision.f16_sums;
  return p.predicted_us * (f16_sums ? 1 / (1 - least_gain_of_f16_sums) : 1);
}

option option_of(gemm_plan plan, measurements const& m) {
  option x{std::move(plan)};
  x.ranked_us = ranked_us_of(x.plan);
  if (m.shipped && is_plan(*m.shipped, x.plan)) {
    x.source = plan_source::table_of_winners;
    x.plan.measured_on = m.shipped->measured_on;
    if (m.shipped->of_this_device) x.measured_us = m.shipped->us;
    x.starts_early = m.shipped->starts_early;
    x.plan.measured_in_bf16 = m.shipped->ab != x.plan.problem.a.type;
  }
  if (m.tuned.fastest && m.tuned.fastest->same_plan(record_of(x.plan, 0))) {
    x.source = plan_source::tuned, x.measured_us = m.tuned.fastest->us;
    x.plan.measured_in_bf16 = false;
    x.plan.measured_on.clear();
    x.plan.measured_for = m.tuned.of_groups;
    if (m.tuned.fastest->starts_early) x.starts_early = m.tuned.fastest->starts_early;
  }
  return x;
}

/// Operands that plans of a form may leave as they are, or copy.
struct copy_choice {
  bool a_as_stored = false;  // A is not copied
  bool orders_rows = false;  // rows that groups gather are copied in order
};

/// Common members of all plans of a form of `p` with the operands `o`: copies before the launch,
/// and hints about them.
gemm_plan common_plan(gemm_problem const& p, gemm_problem const& form, bool swapped,
                      gemm_operands const& o, copy_choice const& choice) {
  gemm_plan base;
  base.problem = p;
  base.swapped = swapped;
  base.stage_d = p.scale_d && !form.scale_d;
  base.normal = form;
  gemm_problem const& q = base.normal;
  bool const d_m = q.d.ord == order::col_major;
  if (choice.orders_rows) order_rows(base);
  choose_copies(base, o, choice.a_as_stored);
  void const* const d_base = base.stage_d ? nullptr : o.d;  // the workspace is aligned
  // D's map of ragged rows begins a whole number of rows before D.
  std::int64_t const lines = q.groups ? 2 : d_m ? result_cols(q) : q.m;
  bool const scatters = q.groups && q.groups->scatter_to > 0;
  base.direct_d =
      divide_lines(q) || scatters || !tma_addressable(q.d, lines, q.d_matrices(), d_base);
  auto const of_caller = [&](role x) { return row_of(swapped ? row_of(x).transposed : x).text; };
  for (role const x : a_and_b) {
    matrix_desc const& m = *matrix_of(q, x);
    if (base.from[x])
      base.hints.push_back(
          rearranged_path(of_caller(x), *base.from[x], m, outer_extent(q, x) * q.k));
    else if (base.repitch[x])
      base.hints.push_back(
          slower_path(of_caller(x), m, "it is copied to padded lines in the workspace first"));
  }
  for (role const x : a_and_b)
    if (matrix_desc const& m = *matrix_of(q, x);
        !weights(q, x) && !base.repitch[x] && splits_sectors(m, extents_of(q, x).outer))
      base.hints.push_back(split_sectors(of_caller(x), m));
  for (role const x : a_and_b)
    if (auto const& from = base.scales_from[x])
      base.hints.push_back(fmt::format(
          "scales of {}: {}; they are copied to the order 32x4x4 in the workspace first. "
          "`tilewright "
          "quantize` writes that order, torch calls it SWIZZLE_32_4_4",
          of_caller(x),
          !from->tiled ? "not in the order that tcgen05 reads"
          : q.epilogue.gate != gating::none && x == role::b
              ? "scales of gate and up columns share groups of 128 rows"
              : "TMA cannot address them"));
  if (base.ordered)
    base.hints.push_back(fmt::format(
        "the rows that the index array names are copied to the workspace in order first ({:.1f} "
        "MB)",
        copied_bytes(base) * 1e-6));
  if (is_long_unpromoted(p)) base.hints.push_back(unpromoted(p));
  if (base.direct_d && !divide_lines(q) && !scatters)
    base.hints.push_back(slower_path("D", q.d, "it is written by plain stores"));
  return base;
}

/// Removes the plans that do not serve reproducible GEMMs on `dev`.
void keep_fixed_order(std::vector<gemm_plan>& plans, device const& dev) {
  gemm_plan const first = plans.front();
  std::erase_if(plans,
                [&](gemm_plan const& p) { return !p.family->order_of_sums(p, dev).fixed(); });
  if (plans.empty())
    throw rejected(
        {"TW0460", "kernels for a reproducible GEMM",
         fmt::format("{}: {}", first.kernel, first.family->order_of_sums(first, dev).why_not),
         "a kernel that adds in the order of all others",
         "the types and orders of docs/invariance.md, or gemm_problem::reproducible = false"});
}

/// Removes the plans whose CTAs need more shared memory than one may have on `dev`.
void keep_fitting(std::vector<gemm_plan>& plans, device const& dev) {
  gemm_plan const first = plans.front();
  auto const smem_bytes = [](gemm_plan const& p) -> std::int64_t {
    auto const r = p.family->resources(p.instance);
    return r ? r->cta.smem_bytes : 0;
  };
  std::erase_if(plans,
                [&](gemm_plan const& p) { return smem_bytes(p) > dev.max_smem_bytes_per_cta; });
  if (plans.empty())
    throw rejected({"TW0464", "shared memory of a CTA",
                    fmt::format("{} bytes on {}; {} needs {}", dev.max_smem_bytes_per_cta, dev.name,
                                first.kernel, smem_bytes(first)),
                    "a kernel whose CTAs fit",
                    "`tilewright occupancy` prints what each kernel needs"});
}

/// A launch refuses a plan that needs more workspace than there is. If a plan of this build fits,
/// this function removes all that do not: of plans for an operand in another order some copy it and
/// others read it into registers. If none fits, it removes those that need the workspace for a
/// float32 D too, unless all do.
void keep_within(std::vector<gemm_plan>& plans, std::int64_t workspace_bytes) {
  auto const fits = [&](gemm_plan const& x) { return x.workspace_bytes <= workspace_bytes; };
  auto const built_and = [&](auto const& rule) {
    return std::ranges::any_of(plans, [&](gemm_plan const& x) { return x.built && rule(x); });
  };
  bool const any_fits = built_and(fits);
  bool const any_at_once = built_and([](gemm_plan const& x) { return !x.stage_d; });
  std::erase_if(plans, [&](gemm_plan const& x) {
    return !fits(x) && (any_fits || (any_at_once && x.stage_d));
  });
}

/// Plans of all families, in no order. None if no kernel computes `p`.
std::vector<gemm_plan> plans_of(gemm_problem const& p, gemm_operands const& asked,
                                device const& dev, std::string const& tuned_trouble) {
  std::vector<gemm_plan> plans;
  std::int64_t const workspace = std::max<std::int64_t>(0, asked.workspace_bytes);
  auto const add_plans = [&](run_form const& unswapped) {
    for (bool const swapped : {false, true}) {
      // Prepared weights are A of the kernels, and a gate pairs their rows.
      if (p.epilogue.gate != gating::none && swapped != bool{p.weights_b}) continue;
      run_form const form = swapped ? transposed(unswapped) : unswapped;
      gemm_operands const o = in_order(asked, form.operands);
      for (copy_choice const choice :
           {copy_choice{}, copy_choice{.a_as_stored = true}, copy_choice{.orders_rows = true},
            copy_choice{.a_as_stored = true, .orders_rows = true}}) {
        if (choice.a_as_stored && !may_load_a_as_stored(form.problem, o)) continue;
        if (choice.orders_rows && !may_order_rows(form.problem)) continue;
        gemm_plan base = common_plan(p, form.problem, swapped, o, choice);
        if (!tuned_trouble.empty()) base.hints.insert(base.hints.begin(), tuned_trouble);
        std::size_t const first = plans.size();
        for (gemm_family const* f : families())
          if ((!p.groups || f->takes_groups()) && (!has_weights(p) || f->takes_weights()))
            f->add_plans(base, dev, workspace, plans);
        for (gemm_plan& x : std::span(plans).subspan(first))
          x.workspace_bytes = workspace_of(x).bytes;
      }
    }
  };
  add_plans(as_run(p));
  if (p.scale_d) {
    std::size_t const first = plans.size();
    add_plans(as_run(with_staged_d(p)));
    double const us = predicted_quantise_us(p, dev);
    for (std::size_t i = first; i < plans.size(); ++i)
      plans[i].quantise_us = us, plans[i].predicted_us += us;
  }
  return plans;
}

/// Why plans_of() found none.
rejection why_no_plan(gemm_problem const& p, gemm_operands const& asked, device const& dev) {
  auto const has_plan = [&](gemm_problem const& q, device const& on) {
    return !plans_of(q, asked, on, "").empty();
  };
  if (has_weights(p)) return no_kernel_for_weights(p, dev, has_plan);
  if (p.groups) return no_kernel_for_groups(p, asked, dev, has_plan);
  return no_kernel(with_epilogue_scales(p), dev);
}

/// All plans, best first, also those whose kernel this build lacks; not finished yet.
std::vector<option> ranked(gemm_problem const& p, gemm_operands const& asked, device const& dev) {
  if (auto r = accept(p)) throw rejected(*r);
  if (auto r = accept(dev)) throw rejected(*r);
  run_form const whole = as_run(p);
  measurements const measured =
      measured_for(p, whole.problem, in_order(asked, whole.operands), dev);
  std::vector<gemm_plan> plans = plans_of(p, asked, dev, measured.tuned.trouble);
  if (plans.empty()) throw rejected(why_no_plan(p, asked, dev));
  keep_fitting(plans, dev);
  if (p.reproducible) keep_fixed_order(plans, dev);
  keep_within(plans, std::max<std::int64_t>(0, asked.workspace_bytes));
  std::vector<option> options;
  options.reserve(plans.size());
  for (gemm_plan& plan : plans) options.push_back(option_of(std::move(plan), measured));
  std::ranges::stable_sort(options, [](option const& x, option const& y) {
    if (x.source != y.source) return x.source > y.source;
    return x.ranked_us < y.ranked_us;
  });
  return options;
}

/// Removes plans whose kernel this build lacks. Throws `rejected` TW0505 if none is left.
void keep_built(std::vector<option>& options) {
  gemm_plan const best = options.front().plan;
  std::erase_if(options, [](option const& x) { return !x.plan.built; });
  if (options.empty()) throw rejected(kernel_not_built(best));
  if (!best.built) options.front().plan.missed = best.kernel;
}

/// Why D is quantised by a second launch.
std::string staged_hint(gemm_plan const& plan, std::vector<option> const& options) {
  auto const other = std::ranges::find_if(options, [](option const& x) { return !x.plan.stage_d; });
  if (other == options.end())
    return "D: no kernel computes these scales for these types, order and epilogue; D is computed "
           "in float32 in the workspace and quantised by a second launch";
  gemm_plan const& one = other->plan;
  return fmt::format(
      "D is computed in float32 in the workspace and quantised by a second launch, {:.1f} us "
      "predicted for both; {}, which computes these scales too, is predicted to take {:.1f} us",
      plan.predicted_us, one.kernel, one.predicted_us);
}

/// The plan of one of the options, with its reasons.
gemm_plan finished(option const& x, std::vector<option> const& options, device const& dev) {
  std::size_t const of = options.size();
  gemm_plan plan = x.plan;
  plan.predicted_for = label(dev);
  plan.family->finish(plan, dev);
  if (plan.stage_d) {
    plan.hints.push_back(staged_hint(plan, options));
    plan.terms.copies += plan.quantise_us;
    plan.why += fmt::format("; a second launch quantises D ({:.1f} us)", plan.quantise_us);
  }
  plan.why += fmt::format(", of {} plan{}", of, of == 1 ? "" : "s");
  plan.starts_early = x.starts_early.value_or(plan.starts_early);
  plan.early_measured = x.starts_early.has_value();
  plan.source = x.source;
  plan.measured_us = x.measured_us;
  if (x.source == plan_source::table_of_winners)
    plan.why += fmt::format("; measured to be the fastest on {}{}", plan.measured_on,
                            plan.measured_in_bf16 ? ", in bf16" : "");
  if (x.source == plan_source::tuned)
    plan.why += fmt::format("; measured to be the fastest on this GPU{}{}",
                            plan.measured_for.empty() ? "" : " for ", plan.measured_for);
  return plan;
}

}  // namespace

double predicted_us(gemm_plan const& plan, device const& dev) {
  if (auto r = accept(dev)) throw rejected(*r);
  double const second_launch = plan.stage_d ? predicted_quantise_us(plan.problem, dev) : 0;
  return plan.family->predicted_us(plan, dev) + second_launch;
}

std::vector<gemm_plan> plan_candidates(gemm_problem const& p, gemm_operands const& o,
                                       device const& dev, kernel_set kernels) {
  std::vector<option> options = ranked(p, o, dev);
  if (kernels == kernel_set::built) keep_built(options);
  std::vector<gemm_plan> plans;
  for (option const& x : options) plans.push_back(finished(x, options, dev));
  return plans;
}

gemm_plan plan_gemm(gemm_problem const& p, gemm_operands const& o, device const& dev) {
  std::vector<option> options = ranked(p, o, dev);
  keep_built(options);
  gemm_plan plan = finished(options.front(), options, dev);
  log_plan(plan, o, dev);
  return plan;
}

gemm_plan plan_gated(gemm_problem const& p, gemm_operands const& o, device const& whole) {
  device const dev = with_sm_count(whole, std::max(1, whole.sm_count - 1));
  std::vector<option> const options = ranked(p, o, dev);
  std::string const first = options.front().plan.kernel;
  for (option const& x : options) {
    if (!x.plan.family->has_gate(x.plan)) continue;
    gemm_plan plan = finished(x, options, dev);
    if (plan.kernel != first) plan.why += fmt::format("; {} ranks first, but lacks a gate", first);
    return plan;
  }
  throw rejected(
      {"TW0904", "path gated", first,
       "a kernel with a gate (docs/several-gpus.md), or another path",
       "they have K-major A and B of bf16, f16 or e4m3, whose lines begin at multiples of "
       "16 bytes, and no fused epilogue"});
}

}  // namespace tw
