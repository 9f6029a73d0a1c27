// SPDX-License-Identifier: Apache-2.0
// launch_emu.cpp  Runs a product in the emulator.
#include <algorithm>
#include <thread>

#include "dispatch/gemv.hpp"
#include "dispatch/launcher_of.hpp"
#include "dispatch/params.hpp"
#include "dispatch/plan_cache.hpp"
#include "family/gemv/instances.hpp"
#include "family/gemv/launchers.hpp"
#include "family/sm90_gemm/instances.hpp"
#include "family/sm90_gemm/launchers.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/kernel/repitch.hpp"

namespace tw {

namespace {

auto kernel_of(gemm_config const& c, gemm_plan const& plan) {
  using namespace sm90_gemm_family;
  return launcher_of(emu_launchers(), index_of(c), plan);
}
auto kernel_of(gemv_config const& c, gemm_plan const& plan) {
  using namespace gemv_family;
  return launcher_of(emu_launchers(), index_of(c), plan);
}

}  // namespace

int emulated_sms(emu_options const& opt) {
  int const cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return opt.sms > 0 ? opt.sms : 2 * (opt.os_threads > 0 ? opt.os_threads : cores);
}

device emulated_device(emu_options const& opt) {
  return with_sm_count(known_device("h200"), emulated_sms(opt));
}

void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt) {
  constexpr int emulator = -1;
  gemm_emulated(*cached_plan(p, o, emulated_device(opt), emulator), o, opt);
}

void gemm_emulated(gemm_plan const& plan, gemm_operands const& given, emu_options const& opt) {
  emu_options run = opt;
  bool const early = opt.pdl || plan.starts_early;
  if (plan.gemv) {
    run.pdl = early;
    auto const launcher = kernel_of(*plan.gemv, plan);
    launch_form const form = form_of(plan, given);
    return launcher(plan.clusters, make_gemv_params(plan, form.problem, form.operands), run);
  }
  auto const launcher = kernel_of(plan.config, plan);
  launch_form const form = form_of(plan, given);
  gemm_params const params = make_params(plan, form.problem, form.operands, target::emu);
  emu_options before = opt;  // launches before the one that the caller looks at
  before.pdl = early;
  before.progress = nullptr;
  before.record = nullptr;
  if (before.live_clusters == 0) before.live_clusters = 1;  // their CTAs do not wait for each other
  if (form.copied()) launch<repitch>(repitch::ctas(form.copies), form.copies, before);
  run.pdl = early || form.copied();
  gemm_config const c = plan.launched();
  run.expected_macs = static_cast<double>(params.walk.order.tiles()) * c.cluster_m * c.cluster_n *
                      c.tile_m * c.tile_n * static_cast<double>(params.work.k_tiles) * c.tile_k;
  launcher(plan.clusters * plan.config.cluster(), params, run);
}

}  // namespace tw
