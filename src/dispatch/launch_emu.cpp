// SPDX-License-Identifier: Apache-2.0
// launch_emu.cpp  Runs a product in the emulator.
#include <algorithm>
#include <cstring>
#include <thread>

#include "dispatch/gemv.hpp"
#include "dispatch/params.hpp"
#include "dispatch/plan_cache.hpp"
#include "registry/gemv.hpp"
#include "registry/registry.hpp"
#include "tilewright/kernel/batch_maps.hpp"

namespace tw {

namespace {

void run(operand_copy const& c) {
  auto const elem_bytes = static_cast<std::size_t>(size_bytes(c.source.type));
  for (std::int64_t b = 0; b < c.target.matrices; ++b)
    for (std::int64_t i = 0; i < c.size.outer; ++i) {
      bool const pointers = c.from_array != nullptr;
      auto const* const base = static_cast<std::byte const*>(pointers ? c.from_array[b] : c.from);
      std::int64_t const from =
          (pointers ? 0 : b * c.source.batch_stride_elems) + i * c.source.pitch_elems;
      std::int64_t const to = b * c.target.batch_stride_elems + i * c.target.pitch_elems;
      std::memcpy(static_cast<std::byte*>(c.to) + static_cast<std::size_t>(to) * elem_bytes,
                  base + static_cast<std::size_t>(from) * elem_bytes,
                  static_cast<std::size_t>(c.size.inner) * elem_bytes);
    }
}

template <class Config>
auto kernel_of(Config const& c, gemm_plan const& plan) {
  auto const launcher = registry::find_emu(c);
  if (launcher == nullptr)
    throw rejected({"TW0505", "kernel", plan.kernel, "a kernel of the registry",
                    "plan again with this version of the library"});
  return launcher;
}

}  // namespace

int emulated_sms(emu_options const& opt) {
  int const cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return opt.sms > 0 ? opt.sms : 2 * (opt.os_threads > 0 ? opt.os_threads : cores);
}

void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt) {
  constexpr int emulator = -1;
  gemm_emulated(*cached_plan(p, o, emulated_sms(opt), emulator), o, opt);
}

void gemm_emulated(gemm_plan const& plan, gemm_operands const& given, emu_options const& opt) {
  if (plan.gemv) {
    auto const launcher = kernel_of(*plan.gemv, plan);
    launch_form const form = form_of(plan, given);
    return launcher(plan.clusters, make_gemv_params(plan, form.problem, form.operands), opt);
  }
  auto const launcher = kernel_of(plan.config, plan);
  launch_form const form = form_of(plan, given);
  for (int i = 0; i < form.copy_count; ++i) run(form.copies[i]);
  gemm_params const params = make_params(plan, form.problem, form.operands, target::emu);
  if (needs_maps(params)) {
    emu_options quiet = opt;  // a launch before the one that the caller looks at
    quiet.progress = nullptr;
    quiet.record = nullptr;
    launch<batch_maps>(batch_maps::ctas(static_cast<int>(plan.normal.batch)),
                       make_batch_maps(params, form.problem, form.operands), quiet);
  }
  emu_options run = opt;
  gemm_config const& c = plan.config;
  run.expected_macs = static_cast<double>(params.order.tiles()) * c.cluster_m * c.cluster_n *
                      c.tile_m * c.tile_n * static_cast<double>(params.work.k_tiles) * c.tile_k;
  launcher(plan.clusters * plan.config.cluster(), params, run);
}

}  // namespace tw
