// SPDX-License-Identifier: Apache-2.0
// family_of.hpp  The part of a family of kernels that is equal in all families: the numbers and
//                names of its kernels, launches, reports. A family defines the pure functions.
#pragma once

#include <algorithm>

#include "family/bind.hpp"
#include "family/launcher_of.hpp"
#include "family/report_texts.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/family/family.hpp"

namespace tw {

/// Kernels: the struct `kernels` that gen/family_headers.py writes for the family.
template <class Kernels>
class family_of : public gemm_family {
 public:
  std::string_view id() const override { return Kernels::id; }
  int kernel_count() const override { return static_cast<int>(Kernels::list().size()); }
  kernel_facts facts(int kernel) const override { return facts_of(config_at(kernel)); }
  bool built(int kernel) const override {
    return Kernels::emu()[static_cast<std::size_t>(kernel)] != nullptr;
  }
  std::string name(int kernel, plan_schedule const&) const override {
    return std::string(Kernels::list()[static_cast<std::size_t>(kernel)].name);
  }
  std::string tuning_text(int kernel) const override { return name(kernel, {}); }
  bool computes(gemm_problem const& q) const override {
    return std::ranges::any_of(Kernels::list(),
                               [&](auto const& i) { return computes_by(i.config, q); });
  }

  std::int64_t partials_bytes(gemm_plan const&) const override { return 0; }
  std::int64_t max_partials_bytes(int) const override { return 0; }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(Kernels::emu(), plan);
    params const p = params_of(plan, form, target::emu);
    launcher(ctas_of(plan), p, options_of(plan, p, options));
  }
  int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                 bool early) const override {
    auto const launcher = launcher_of(Kernels::gpu(), plan);
    return launcher(ctas_of(plan), params_of(plan, form, target::gpu), stream,
                    early && may_start_early());
  }

  std::vector<profiled_kernel> profiled() const override {
    std::vector<profiled_kernel> all;
    for (auto const& i : Kernels::with_record()) {
      config const& c = config_at(i.kernel);
      all.push_back({i.kernel, tile_of(c), roles_of(c), i.on_gpu});
    }
    return all;
  }
  void launch_emulated_profiled(gemm_plan const& plan, launch_form const& form,
                                stage_log const& log, emu::options const& options) const override {
    auto const launcher = with_record(plan).emu;
    if (launcher == nullptr) throw rejected(kernel_not_built(plan));
    params const p = params_of(plan, form, target::emu);
    launcher(ctas_of(plan), p, log, options_of(plan, p, options));
  }
  int launch_gpu_profiled(gemm_plan const& plan, launch_form const& form, stage_log const& log,
                          cudaStream_t stream) const override {
    auto const launcher = with_record(plan).gpu;
    if (launcher == nullptr) throw rejected(kernel_not_built(plan));
    return launcher(ctas_of(plan), params_of(plan, form, target::gpu), log, stream);
  }

  std::string schedule_text(gemm_plan const& plan) const override {
    return counted(plan.schedule.clusters, "CTA");
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return shared_memory_loads_text(plan, "");
  }
  tile_facts tiles(gemm_plan const& plan) const override {
    tile_facts t = tile_of(launched_config(plan));
    t.ctas = ctas_of(plan);
    return t;
  }
  std::optional<kernel_resources> resources(int kernel) const override {
    return resources_of(config_at(kernel));
  }

 protected:
  using config = typename Kernels::config;
  using params = typename Kernels::params;

  static config const& config_at(int kernel) {
    return Kernels::list()[static_cast<std::size_t>(kernel)].config;
  }

  /// A problem `q` is as run (gemm_plan::normal).
  virtual kernel_facts facts_of(config const& c) const = 0;
  virtual bool computes_by(config const& c, gemm_problem const& q) const = 0;
  virtual kernel_resources resources_of(config const& c) const = 0;
  /// M, N and K of a CTA's tile; `ctas` is not set.
  virtual tile_facts tile_of(config const& c) const = 0;
  virtual params params_of(gemm_plan const& plan, launch_form const& form, target t) const = 0;

  /// The configuration with the tiles of this launch.
  virtual config launched_config(gemm_plan const& plan) const { return config_at(plan.instance); }
  /// CTAs of the launch.
  virtual int ctas_of(gemm_plan const& plan) const { return plan.schedule.clusters; }
  /// Multiply-adds of the launch, edges of tiles included; 0: not stated.
  virtual double macs_of(gemm_plan const&, params const&) const { return 0; }
  /// True if the kernels wait for the results of the launch before (griddepcontrol.wait), so that a
  /// launch may be a dependent one.
  virtual bool may_start_early() const { return true; }
  /// Roles of a CTA that have a record of their stages each, of a kernel with one.
  virtual std::vector<std::string> roles_of(config const&) const { return {}; }

 private:
  emu::options options_of(gemm_plan const& plan, params const& p, emu::options run) const {
    if (!may_start_early()) run.pdl = false;
    if (double const macs = macs_of(plan, p); macs > 0) run.expected_macs = macs;
    return run;
  }
  static auto with_record(gemm_plan const& plan) {
    for (auto const& i : Kernels::with_record())
      if (i.kernel == plan.instance) return i;
    throw rejected(kernel_not_built(plan));
  }
};

}  // namespace tw
