// SPDX-License-Identifier: Apache-2.0
// plan_report.cpp  The two forms of the same ranking.
#include "tools/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tilewright/problem/weights_desc.hpp"
#include "tools/report/ceilings.hpp"
#include "tools/report/field_words.hpp"
#include "tools/report/plan_table.hpp"
#include "tools/report/result_scale_text.hpp"
#include "tools/report/wrapped_text.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

std::int64_t d_cols(gemm_problem const& p) { return result_cols(p.epilogue, p.n); }

std::size_t shown(plan_answer const& a, int top) {
  return top == 0 ? a.plans.size() : std::min(a.plans.size(), static_cast<std::size_t>(top));
}

/// "A B + C", "gelu of A B", "gelu of (A B + C)".
std::string product_text(plan_answer const& a) {
  bool const c = a.problem.c && !a.problem.epilogue.c_last;
  std::string const product = c ? "A B + C" : "A B";
  if (a.epilogue.empty()) return product;
  return a.epilogue + " of " + (c ? "(" + product + ")" : product);
}

bool has_tensor_memory(plan_answer const& a) { return a.dev.compute_capability / 10 == 10; }
bool has_wgmma(plan_answer const& a) { return a.dev.compute_capability / 10 == 9; }

std::string rate_text(plan_answer const& a, double us) {
  rates const r = rates_of(a.problem, us, a.dev);
  return fmt::format("{:.1f} us: {:.1f} TFLOP/s, {:.3f} of {}; {:.0f} GB/s, {:.3f} of DRAM", us,
                     r.tflops, r.of_wgmma, has_wgmma(a) ? "wgmma alone" : "the data sheet's rate",
                     r.gb_per_s, r.of_dram);
}

char const* source_text(plan_source s) {
  return s == plan_source::model ? "model" : s == plan_source::tuned ? "tuned" : "table of winners";
}

/// Why this one: its prediction, or a measurement and what the model thought of it.
std::string because(plan_answer const& a) {
  gemm_plan const& chosen = a.plans[0];
  if (chosen.source == plan_source::model) return "the least predicted time";
  auto const faster = std::count_if(a.plans.begin(), a.plans.end(), [&](gemm_plan const& p) {
    return p.predicted_us < chosen.predicted_us;
  });
  return fmt::format("measured to be the fastest on {}{}{}{}; the model puts it at place {}",
                     chosen.source == plan_source::tuned ? "this GPU" : chosen.measured_on,
                     chosen.measured_in_bf16 ? ", in bf16" : "",
                     chosen.measured_for.empty() ? "" : " for ", chosen.measured_for, faster + 1);
}

/// Which kernel would be chosen, if this build had it.
std::string missed_text(gemm_plan const& p) {
  kernel_set_facts const here = kernels_of_this_build();
  return fmt::format("this build has {} of {} (TW_KERNELS={}); {} ranks before this one",
                     here.built, here.all, here.name, p.missed);
}

std::string launch_text(gemm_plan const& p) {
  return fmt::format("{}, {}",
                     p.starts_early ? "may start while the one before it ends"
                                    : "starts when the one before it has ended",
                     p.early_measured ? "which was measured to be faster" : "by the rule");
}

std::string runner_up(plan_answer const& a) {
  if (a.plans.size() < 2) return "none";
  gemm_plan const &chosen = a.plans[0], &next = a.plans[1];
  double const more = (next.predicted_us / chosen.predicted_us - 1) * 100;
  return fmt::format("{} on {}, predicted {:.1f} us, {:.1f} % {}", shown_kernel(next),
                     next.family->schedule_text(next), next.predicted_us, std::abs(more),
                     more < 0 ? "less" : "more");
}

/// Copies of operands need their room; tiles are shared only if there is some.
bool suffices(plan_answer const& a) { return a.plans[0].workspace_bytes <= a.workspace_bytes; }

/// The L2 cache hints of the launch, for the operands as requested.
struct told_l2 {
  l2_load a = l2_load::plain, b = l2_load::plain;
  bool by_128_bytes = false;  // whichever makes room first
  bool d_first = false;
};
told_l2 told_l2_by(gemm_plan const& p) {
  l2_hints const& h = p.schedule.l2;
  return {p.swapped ? h.b : h.a, p.swapped ? h.a : h.b, h.a_by_128_bytes,
          h.d_evict_first && !p.direct_d};
}

/// Nothing without hints.
std::string l2_text(gemm_plan const& p) {
  told_l2 const t = told_l2_by(p);
  std::vector<std::string> parts;
  auto const tell = [&](char const* operand, l2_load load) {
    if (load == l2_load::evict_first)
      parts.push_back(fmt::format("{} makes room first{}", operand,
                                  t.by_128_bytes ? ", in pieces of 128 bytes" : ""));
    if (load == l2_load::evict_normal)
      parts.push_back(fmt::format("{} is loaded with evict_normal, for few CTAs", operand));
  };
  tell("A", t.a);
  tell("B", t.b);
  if (t.d_first) parts.emplace_back("D makes room first");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// How sums of 8-bit floats are kept, and what that costs; nothing for other types.
std::string sums_text(plan_answer const& a) {
  if (!is_fp8(a.problem.a.type)) return "";
  bool const scaled = scales_in_main_loop(a.problem);
  if (has_tensor_memory(a))
    return scaled && !is_block_scaled(a.problem)
               ? "float32: 128 of K in tensor memory, added in registers, times the scales"
               : "float32, in tensor memory";
  int const k = promotion_interval(a.problem);
  if (k == 0) return "never promoted (fast): the error grows with K, see docs/formats.md";
  std::string const text =
      fmt::format("promoted to float32 every {} of K{}", k, scaled ? ", times the scales" : "");
  if (!a.never_promoted_us) return text;
  double const us = a.plans[0].predicted_us, never = *a.never_promoted_us;
  return fmt::format("{}: predicted {:+.1f} us ({:+.1f} %) over never", text, us - never,
                     100 * (us / never - 1));
}

/// The order of the sums of a reproducible GEMM, and what it costs.
std::string order_text(plan_answer const& a) {
  std::string const text = a.plans[0].family->order_of_sums(a.plans[0], a.dev).text;
  if (!a.any_order_us) return text;
  double const us = a.plans[0].predicted_us, free = *a.any_order_us;
  return fmt::format("{}; predicted {:+.1f} us ({:+.1f} %) over the fastest plan", text, us - free,
                     100 * (us / free - 1));
}

/// How D gets its scales.
std::string result_scales_text(plan_answer const& a, gemm_plan const& p) {
  std::string const each =
      result_scale_text(*a.problem.scale_d, a.problem.m, d_cols(a.problem), a.problem.batch);
  return each + (p.stage_d ? fmt::format("; D in float32 first, then a second kernel, {:.1f} of "
                                         "{:.1f} us",
                                         p.quantise_us, p.predicted_us)
                           : "; by the same kernel");
}

/// Where 8-bit operands are not faster than bf16 by the model.
std::string width_text(plan_answer const& a) {
  double const us = a.plans[0].predicted_us;
  if (!a.in_16_bits_us || *a.in_16_bits_us > us) return "";
  return fmt::format("{} does not pay here: the same GEMM of bf16 is predicted to take {:.1f} us",
                     name(a.problem.a.type), *a.in_16_bits_us);
}

/// The first line for a device whose calibration is not measured; else nothing.
std::string unmeasured_text(device const& d) {
  if (d.source == calibration_source::measured) return "";
  return fmt::format(
      "note       nothing was measured by us on this device: predicted times come from data sheets"
      "{}, and the constants of the {}\n",
      d.compute_capability / 10 == 10 ? ", published microbenchmarks" : "", d.calibrated_on);
}

json sums_json(plan_answer const& a) {
  if (!is_fp8(a.problem.a.type)) return nullptr;
  json j{{"promote_k", a.problem.precision.promote_k}};
  j["never_promoted_us"] = a.never_promoted_us ? json(*a.never_promoted_us) : json(nullptr);
  return j;
}

json l2_json(gemm_plan const& p) {
  constexpr char const* words[] = {"plain", "evict_first", "evict_normal"};
  told_l2 const t = told_l2_by(p);
  return {{"a", words[static_cast<int>(t.a)]},
          {"b", words[static_cast<int>(t.b)]},
          {"by_128_bytes", t.by_128_bytes},
          {"d", words[t.d_first ? 1 : 0]}};
}

json calibration_json(device const& d) {
  return {{"source", d.source == calibration_source::measured ? "measured" : "data_sheet"},
          {"of", d.calibrated_on},
          {"note", d.calibration_note}};
}

json terms_json(plan_terms const& t) {
  return {{"tensor", t.tensor},
          {"idle", t.idle},
          {"additions", t.additions},
          {"loads", t.loads},
          {"dram", t.dram},
          {"epilogue", t.epilogue},
          {"reduction", t.reduction},
          {"launch", t.launch},
          {"copies", t.copies},
          {"waves", t.waves},
          {"shared_memory", t.shared_memory}};
}

json rates_json(plan_answer const& a, double us) {
  rates const r = rates_of(a.problem, us, a.dev);
  return {{"us", us},
          {"tflops", r.tflops},
          {"of_wgmma_ceiling", r.of_wgmma},
          {"gb_per_s", r.gb_per_s},
          {"of_dram_ceiling", r.of_dram}};
}

/// The convention of scales.
std::string text_of_scale(scale_desc const& s, scaled_operand const& x) {
  return is_block_scale(s) ? block_scale_text(s, x) : scale_text(s, x);
}

json scale_json(std::optional<scale_desc> const& s, scaled_operand const& x) {
  return s ? json(text_of_scale(*s, x)) : json(nullptr);
}

json one_json(plan_answer const& a, gemm_plan const& p) {
  json j{{"kernel", p.kernel},
         {"built", p.built},
         {"source", source_text(p.source)},
         {"swapped", p.swapped},
         {"clusters", p.schedule.clusters},
         {"shared_tiles", p.schedule.split_k_tiles},
         {"sharers", p.schedule.split_k_clusters},
         {"order", order_names[static_cast<int>(p.schedule.raster)]},
         {"band", p.schedule.band},
         {"workspace_bytes", p.workspace_bytes},
         {"starts_early", p.starts_early},
         {"early_measured", p.early_measured},
         {"l2", l2_json(p)},
         {"predicted", rates_json(a, p.predicted_us)},
         {"quantised_by_second_launch_us", p.stage_d ? json(p.quantise_us) : json(nullptr)},
         {"terms_us", terms_json(p.terms)}};
  sum_order const order = p.family->order_of_sums(p, a.dev);
  j["sum_order"] = {{"text", order.text}, {"invariant", order.fixed()}};
  j["measured"] = p.measured_us > 0 ? rates_json(a, p.measured_us) : json(nullptr);
  return j;
}

}  // namespace

std::string limit_text(gemm_plan const& p) {
  plan_terms const& t = p.terms;
  double const math = t.tensor + t.idle + t.additions, fixed = t.launch + t.reduction;
  double const most = std::max({math, t.loads, t.dram, t.epilogue, fixed, t.copies});
  auto const of = [&](double us) { return fmt::format("{:.1f} of {:.1f} us", us, p.predicted_us); };
  if (most == math && t.additions > 0)
    return fmt::format(
        "the tensor cores and the warps that add K blocks times their scales: {}; {:.1f} for the "
        "GEMM's own operations, {:.1f} for edges, part-empty waves and what instructions lose, "
        "{:.1f} in which the tensor cores wait for the additions",
        of(math), t.tensor, t.idle, t.additions);
  if (most == math)
    return fmt::format(
        "the tensor cores: {}; {:.1f} for the GEMM's own operations, {:.1f} for edges, "
        "part-empty waves and what instructions lose",
        of(math), t.tensor, t.idle);
  if (most == t.dram) return fmt::format("DRAM: {} to read A and B and write D once", of(t.dram));
  if (most == t.loads) return p.family->loads_text(p);
  if (most == t.copies && p.stage_d)
    return fmt::format(
        "what runs before and after the GEMM: copies of operands, and the kernel "
        "that quantises D: {}",
        of(t.copies));
  if (most == t.copies)
    return fmt::format("copies of operands by a launch before the GEMM: {}", of(t.copies));
  if (most == t.epilogue)
    return fmt::format("the epilogue: {} in which no main loop runs", of(t.epilogue));
  return fmt::format("fixed costs: {} for the launch{}", of(fixed),
                     t.reduction > 0 ? " and for the reduction of split-K parts" : "");
}

std::string plan_text(plan_answer const& a, int top, int columns) {
  gemm_problem const& p = a.problem;
  gemm_plan const& chosen = a.plans[0];
  std::string text = unmeasured_text(a.dev);
  text += fmt::format(
      "problem    D = {}, M = {}, N = {}, K = {}, batch {}, {} to {}{}, {}; {} SMs, workspace "
      "{} bytes\n",
      product_text(a), p.m, p.n, p.k, p.batch, name(p.a.type), name(p.d.type),
      p.d.ord == order::row_major ? "" : " column-major", a.layout, a.dev.sm_count,
      a.workspace_bytes);
  if (p.weights_b) text += fmt::format("weights    {}, prepared\n", text_of(p.weights_b));
  for (role const x : a_and_b)
    if (auto const& s = scale(p, x))
      text += fmt::format("scale {}    {}\n", row_of(x).text,
                          text_of_scale(*s, scaled_operand_of(p, x)));
  if (has_scales(p))
    text += fmt::format("scales     multiplied in the {}\n",
                        is_block_scaled(p)       ? "tensor core"
                        : scales_in_main_loop(p) ? "main loop, every 128 elements of K"
                                                 : "epilogue");
  if (p.scale_d) text += fmt::format("scale D    {}\n", result_scales_text(a, chosen));
  text += fmt::format("device     {}\n", label(a.dev));
  text += fmt::format("chosen     {} on {}, of {} plan{}\n", shown_kernel(chosen),
                      chosen.family->schedule_text(chosen), a.plans.size(),
                      a.plans.size() == 1 ? "" : "s");
  if (!chosen.missed.empty()) text += fmt::format("kernels    {}\n", missed_text(chosen));
  if (std::string const sums = sums_text(a); !sums.empty())
    text += fmt::format("sums       {}\n", sums);
  if (p.reproducible) text += fmt::format("order      {}\n", order_text(a));
  if (std::string const width = width_text(a); !width.empty())
    text += fmt::format("width      {}\n", width);
  text += fmt::format("because    {}\n", because(a));
  text += fmt::format("limit      {}\n", limit_text(chosen));
  text += fmt::format("runner-up  {}\n", runner_up(a));
  text += fmt::format("launch     {}\n", launch_text(chosen));
  if (std::string const l2 = l2_text(chosen); !l2.empty())
    text += fmt::format("L2         {}\n", l2);
  if (chosen.workspace_bytes > 0)
    text += fmt::format(
        "workspace  {} bytes{}\n", chosen.workspace_bytes,
        suffices(a) ? ""
                    : fmt::format("; a launch with {} is refused (TW0410)", a.workspace_bytes));
  if (double const copies = chosen.terms.copies - chosen.quantise_us; copies > 1e-9)
    text += fmt::format("copies     {:.1f} of {:.1f} us: operands, by a launch before the GEMM\n",
                        copies, chosen.predicted_us);
  text += fmt::format("predicted  {}\n", rate_text(a, chosen.predicted_us));
  text += chosen.measured_us > 0 ? fmt::format("measured   {}\n", rate_text(a, chosen.measured_us))
                                 : std::string("measured   not yet on this GPU: tilewright tune\n");
  for (std::string const& hint : a.words(chosen.hints))
    text += fmt::format("hint       {}\n", hint);

  if (columns > 0) text = wrapped(text, columns, 11);
  text += "\n" + plan_table(a, shown(a, top)).text(columns);
  if (shown(a, top) < a.plans.size()) {
    std::string const more =
        fmt::format("    ... and {} more (--top 0 shows all)", a.plans.size() - shown(a, top));
    text += (columns > 0 ? wrapped(more, columns, 4) : more) + "\n";
  }
  return text;
}

json scales_json(gemm_problem const& p) {
  json all;
  for (role const x : a_and_b)
    all[row_of(scales_of(x)).word] = scale_json(scale(p, x), scaled_operand_of(p, x));
  all[row_of(role::scale_d).word] =
      p.scale_d ? json(result_scale_text(*p.scale_d, p.m, d_cols(p), p.batch)) : json(nullptr);
  return all;
}

json plan_json(plan_answer const& a, int top) {
  gemm_problem const& p = a.problem;
  gemm_plan const& chosen = a.plans[0];
  json j{{"schema", "tilewright.plan/1"},
         {"m", p.m},
         {"n", p.n},
         {"k", p.k},
         {"batch", p.batch},
         {"ab", name(p.a.type)},
         {"b", name(p.b.type)},
         {"d", name(p.d.type)},
         {"sums", sums_json(a)},
         {"reproducible", p.reproducible},
         {"any_order_us", a.any_order_us ? json(*a.any_order_us) : json(nullptr)},
         {"in_16_bits_us", a.in_16_bits_us ? json(*a.in_16_bits_us) : json(nullptr)},
         {"d_order", p.d.ord == order::row_major ? "row" : "col"},
         {"c", p.c.has_value()},
         {"layout", a.layout},
         {"epilogue", a.epilogue},
         {"device", a.dev.id},
         {"device_name", a.dev.name},
         {"calibration", calibration_json(a.dev)},
         {"sms", a.dev.sm_count},
         {"workspace_bytes", a.workspace_bytes},
         {"workspace_suffices", suffices(a)},
         {"ceilings",
          {{"wgmma_tflops", wgmma_ceiling_of(a.problem, a.dev)},
           {"dram_gb_per_s", a.dev.dram_ceiling_gb_per_s}}},
         {"candidates", a.plans.size()},
         {"chosen", one_json(a, chosen)},
         {"because", because(a)},
         {"limit", limit_text(chosen)},
         {"runner_up", runner_up(a)},
         {"hints", a.words(chosen.hints)}};
  j.update(scales_json(p));
  j["plans"] = json::array();
  for (std::size_t i = 0; i < shown(a, top); ++i) j["plans"].push_back(one_json(a, a.plans[i]));
  return j;
}

}  // namespace tw
