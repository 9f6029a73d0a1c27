// SPDX-License-Identifier: Apache-2.0
// launch_emu.cpp  Runs a GEMM in the emulator.
#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "base/log.hpp"
#include "dispatch/plan/check_plan.hpp"
#include "dispatch/plan/gated.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "dispatch/plan/staged.hpp"
#include "dispatch/quantize/block_quantize.hpp"
#include "family/bind.hpp"
#include "family/no_inner.hpp"
#include "family/workspace.hpp"
#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/kernel/repitch/factors.hpp"
#include "tilewright/kernel/repitch/rearrange.hpp"
#include "tilewright/kernel/repitch/repitch.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/without_indices.hpp"

namespace tw {

int emulated_sms(emu_options const& opt) {
  return opt.sms > 0 ? opt.sms : 2 * (opt.os_threads > 0 ? opt.os_threads : emu::usable_cores());
}

device emulated_device(emu_options const& opt, std::string_view like) {
  device d = with_sm_count(known_device(like), emulated_sms(opt));
  d.emulated = true;
  return d;
}

void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt) {
  if (computes_nothing(p)) return;
  constexpr int emulator = -1;
  gemm_emulated(*cached_plan(p, o, emulated_device(opt), emulator), o, opt);
}

namespace {

/// Memory for a launch whose caller gives no workspace: as large as the launch needs, the counters
/// zero.
class own_workspace {
 public:
  own_workspace(gemm_plan const& plan, gemm_operands& o) {
    if (o.workspace != nullptr || o.workspace_bytes != 0) return;
    o.workspace_bytes = workspace_of(plan).bytes;
    if (o.workspace_bytes == 0) return;
    auto const bytes = static_cast<std::size_t>(o.workspace_bytes);
    memory_.reset(new (std::align_val_t{256}) std::byte[bytes]);
    std::fill_n(memory_.get(), std::min(o.workspace_bytes, gemm_workspace_zeros), std::byte{0});
    o.workspace = memory_.get();
  }

 private:
  struct release {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{256}); }
  };
  std::unique_ptr<std::byte[], release> memory_;
};

/// Names a number of groups or of an index array that is not possible. A GPU says which in the
/// status alone; a caller without one would not know.
void report_numbers(gemm_problem const& p, gemm_operands const& o) {
  if (!p.groups) return;
  std::optional<rejection> why = refuse_numbers(p, o.groups);
  if (!why) why = refuse_indices(p, o);
  if (!why) return;
  log_line(log_level::warn, "hints", to_string(*why));
  if (o.group_status == nullptr) throw rejected(*why);
}

/// Throws TW0466 if the header of prepared weights, which is in host memory here, states another
/// problem than the GEMM's.
void check_headers(gemm_problem const& p, gemm_operands const& o) {
  for (role const x : a_and_b) {
    if (!weights(p, x) || address(o, x) == nullptr) continue;  // TW0408
    bool const one = matrix_of(p, x)->batch_stride_elems == 0;
    std::int64_t const matrices = one ? 1 : x == role::a ? p.a_matrices() : p.b_matrices();
    check_weights_header({outer_extent(p, x), p.k, matrices, weights(p, x)}, address(o, x));
  }
}

/// The options of the launch of the GEMM itself.
emu_options options_of_run(gemm_plan const& plan, emu_options const& opt) {
  emu_options run = opt;
  run.catch_crashes = opt.catch_crashes.value_or(false);
  run.pdl = opt.pdl || plan.starts_early;
  // The fast arithmetic adds in an order of the host's vectors, which depends on the tile.
  if (plan.problem.reproducible) run.exact_sums = true;
  return run;
}

}  // namespace

void gemm_emulated(gemm_plan const& plan, gemm_operands const& from_caller,
                   emu_options const& opt) {
  alignas(16) static constexpr std::byte zeros[shared_zeros_bytes] = {};
  check_plan(plan);
  check_headers(plan.problem, from_caller);
  gemm_operands given = from_caller;
  own_workspace const memory(plan, given);
  launch_form const form = form_of(plan, given, zeros);
  bool const early = opt.pdl || plan.starts_early;
  emu_options before = opt;  // launches before the one that the caller looks at
  before.catch_crashes = opt.catch_crashes.value_or(false);
  before.pdl = early;
  before.progress = nullptr;
  before.record = nullptr;
  if (before.live_clusters == 0) before.live_clusters = 1;  // their CTAs do not wait for each other
  if (form.any(form.copies)) launch<repitch>(repitch::ctas(form.copies), form.copies, before);
  if (form.any(form.rearranged))
    launch<rearrange>(rearrange::ctas(form.rearranged), form.rearranged, before);
  if (form.any(form.factors))
    launch<copy_factors>(copy_factors::ctas(form.factors), form.factors, before);
  if (form.ordered.to != nullptr)
    launch<copy_rows_in_order>(copy_rows_in_order::ctas(form.ordered), form.ordered, before);
  emu_options run = options_of_run(plan, opt);
  run.pdl = form.ordered.to == nullptr && (early || form.copied());
  plan.family->launch_emulated(plan, form, run);
  report_numbers(plan.problem, given);
  if (!plan.stage_d) return;
  emu_options after = before;
  after.pdl = false;
  for (std::int64_t i = 0; i < plan.problem.batch; ++i) {
    if (is_block_result(plan.problem)) {
      quantize_blocks_emulated(block_quantisation_of(plan, given, i), after);
      continue;
    }
    staged_quantisation const q = quantisation_of(plan, given, i);
    quantize_emulated(q.problem, q.operands, after);
  }
}

void gemm_emulated(gemm_plan const& plan, gemm_operands const& o, gate_form const& gate,
                   emu_options const& opt) {
  gemm_operands given = o;
  own_workspace const memory(plan, given);
  plan.family->launch_emulated_gated(plan, form_of(plan, given), gate, options_of_run(plan, opt));
}

}  // namespace tw
