// SPDX-License-Identifier: Apache-2.0
// plan_log.cpp  Lines of the subsystems "plan" and "hints".
#include "dispatch/plan/plan_log.hpp"

#include <fmt/format.h>

#include <mutex>
#include <unordered_set>

#include "base/fork_safe.hpp"
#include "base/log.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw {
namespace {

char letter(matrix_desc const& m) { return m.ord == order::row_major ? 'T' : 'N'; }

/// ", scales of A 1x128 f32 (torch BlockWise1x128, ...)".
std::string scales_text(gemm_problem const& p) {
  std::string text;
  for (role const x : a_and_b)
    if (auto const& s = scale(p, x)) {
      scaled_operand const of = scaled_operand_of(p, x);
      text += fmt::format(", scales of {} {}", row_of(x).text,
                          is_block_scaled(p) ? block_scale_text(*s, of) : scale_text(*s, of));
    }
  return text;
}

std::string product_text(gemm_problem const& p) {
  return fmt::format("{}x{}x{}{} {} to {} {}{}{}", p.m, p.n, p.k,
                     p.batch > 1 ? fmt::format(" batch {}", p.batch) : "", name(p.a.type),
                     name(p.d.type), letter(p.a), letter(p.b),
                     is_fused(p.epilogue) ? " fused" : "") +
         scales_text(p);
}

/// Is it the first time? A log that forgets after many problems says some of them again.
bool first_time(plan_key const& key) {
  static fork_safe_mutex mutex;
  static std::unordered_set<plan_key, plan_key_hash> seen;
  std::scoped_lock const lock(mutex);
  if (seen.size() >= most_cached_plans) seen.clear();
  return seen.insert(key).second;
}

/// The gain of a larger workspace, if it is considerable.
std::string workspace_hint(gemm_plan const& plan, gemm_operands o, device const& dev) {
  std::int64_t const given = o.workspace_bytes;
  o.workspace_bytes = gemm_workspace_bytes(plan.problem, o, dev);
  if (given >= o.workspace_bytes) return "";
  gemm_plan const best = plan_candidates(plan.problem, o, dev).front();
  if (best.workspace_bytes <= given || best.predicted_us > 0.9 * plan.predicted_us) return "";
  return fmt::format(
      "a workspace of {} bytes allows a plan that is predicted to take {:.1f} us instead of "
      "{:.1f}; "
      "{} bytes were given",
      best.workspace_bytes, best.predicted_us, plan.predicted_us, given);
}

}  // namespace

void log_plan(gemm_plan const& plan, gemm_operands const& o, device const& dev) {
  bool const on_gpu = !dev.emulated && gpu().usable;
  log_level const hints = on_gpu ? log_level::warn : log_level::info;
  if (!log_wanted(log_level::info, "plan") && !log_wanted(hints, "hints")) return;
  constexpr int any_device = -2;
  if (!first_time(key_of(plan.problem, o, dev, any_device))) return;
  log_line(
      log_level::info, "plan",
      fmt::format("plan: {}: {}; {}", product_text(plan.problem), shown_kernel(plan), plan.why));
  if (!plan.missed.empty())
    log_line(log_level::info, "plan",
             fmt::format("plan: {} ranks first, but this build lacks it (TW_KERNELS={}); {} is the "
                         "next best",
                         plan.missed, kernels_of_this_build().name, plan.kernel));
  if (!log_wanted(hints, "hints")) return;
  for (std::string const& hint : plan.hints) log_line(hints, "hints", "performance: " + hint);
  if (std::string const hint = workspace_hint(plan, o, dev); !hint.empty())
    log_line(hints, "hints", "performance: " + hint);
}

}  // namespace tw
