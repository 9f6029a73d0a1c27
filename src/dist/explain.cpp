// SPDX-License-Identifier: Apache-2.0
// explain.cpp  The choice of a call, with the times that the model predicts.
#include "tilewright/dist/explain.hpp"

#include <limits>
#include <optional>

#include "dispatch/launch/on_device.hpp"
#include "dist/call.hpp"
#include "dist/gathered.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::dist {
namespace {

/// The GEMM of a rank with all M rows in one launch, its matrices dense: leading dimensions of a
/// shard may be too small for M rows.
gemm_problem whole_gemm(operation op, gemm_problem const& p) {
  if (!splits_k(op)) return problem_after_gather(p);
  gemm_problem q = p;
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  q.d = dense(p.d.type, p.d.ord, p.m, cols);
  if (p.c) q.c = dense(p.c->type, p.c->ord, p.m, cols);
  if (p.aux) q.aux = dense(p.aux->type, p.aux->ord, p.m, p.n);
  return q;
}

}  // namespace

group_plan explain(group const& g, operation op, gemm_problem const& p, gemm_operands const& o,
                   call_options const& how) {
  group::membership& m = g.state();
  std::optional<on_device> here;
  if (m.on_gpu() && m.device() >= 0) here.emplace(m.device());
  shards const rows = rows_of(g, p, how);
  path_choice const choice = splits_k(op) ? choice_of_reduce(op, g, p, how, rows)
                                          : choice_of_all_gather(g, {{p, o}}, how, rows);
  device const dev = m.device() >= 0 ? gpu_device() : known_device(how.device);
  constexpr int hosts = 1;
  group_plan plan =
      plan_over_ranks(op, whole_gemm(op, p), g.ranks(), dev, {}, hosts, m.reaches_all());
  plan.chosen = choice.via, plan.why = choice.why, plan.by_nccl = choice.by_nccl;
  if (plan.find(choice.via) == nullptr)
    plan.paths.push_back({choice.via, std::numeric_limits<double>::quiet_NaN(), "unknown"});
  plan.of_group = true, plan.rank = g.rank(), plan.rows = rows;
  plan.steps = steps_in_words(op, choice.via, rows, g.rank(), choice.by_nccl);
  return plan;
}

}  // namespace tw::dist
