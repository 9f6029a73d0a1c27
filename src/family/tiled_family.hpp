// SPDX-License-Identifier: Apache-2.0
// tiled_family.hpp  A family whose kernels have one schedule for a problem: each tile of D belongs
//                   to one cluster. All families but sm90_gemm.
#pragma once

#include "family/family_of.hpp"
#include "family/predicted_times.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw {

template <class Kernels>
class tiled_family : public family_of<Kernels> {
 public:
  void add_plans(gemm_plan const& base, device const& dev, std::int64_t,
                 std::vector<gemm_plan>& plans) const override {
    if (!runs_on(dev)) return;
    gemm_problem const& q = base.normal;
    for (int kernel = 0; kernel < this->kernel_count(); ++kernel) {
      config const& c = this->config_at(kernel);
      std::int64_t const tiles = tiles_of(c, q);
      if (!this->computes_by(c, q) || tiles > max_tiles) continue;
      gemm_plan& plan = plans.emplace_back(base);
      plan.family = this;
      plan.instance = kernel;
      plan.built = this->built(kernel);
      plan.kernel = this->name(kernel, {});
      plan.schedule.clusters = static_cast<int>(clusters_of(c, tiles, dev));
      plan.predicted_us = times_of(plan, dev).total_us;
    }
  }

  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return times_of(plan, dev).total_us;
  }

  void finish(gemm_plan& plan, device const& dev) const override {
    config const& c = this->config_at(plan.instance);
    predicted_times const t = times_of(plan, dev);
    choose_raster(plan, dev);
    plan.terms = {};
    double const multiplies = t.math_us - t.additions_us;
    plan.terms.tensor = std::min(t.tensor_us, multiplies);
    plan.terms.idle = multiplies - plan.terms.tensor;
    plan.terms.additions = t.additions_us;
    plan.terms.loads = t.loads_us;
    plan.terms.shared_memory = t.shared_memory_us;
    plan.terms.dram = t.dram_us;
    plan.terms.epilogue = t.epilogue_us;
    plan.terms.launch = t.launch_us;
    plan.terms.copies = t.copies_us;
    std::int64_t const at_a_time = std::min(std::int64_t{plan.schedule.clusters}, resident(c, dev));
    plan.terms.waves = static_cast<double>(divide_up(tiles_of(c, plan.normal), at_a_time));
    plan.starts_early = starts_early(t, dev);
    plan.why = why_text(plan, work_text(plan, t, dev), this->parts_of(t), t.total_us);
  }

 protected:
  using typename family_of<Kernels>::config;
  static constexpr std::int64_t max_tiles = std::int64_t{1} << 30;  // running numbers are ints

  virtual bool runs_on(device const& dev) const = 0;
  /// Tiles of a cluster, of all GEMMs of the batch.
  virtual std::int64_t tiles_of(config const& c, gemm_problem const& q) const = 0;
  /// Clusters that run at the same time.
  virtual std::int64_t resident(config const& c, device const& dev) const = 0;
  virtual predicted_times times_of(gemm_plan const& plan, device const& dev) const = 0;
  /// The work of a launch, for plan.why: "66 tiles of 128x256 on 66 CTAs".
  virtual std::string work_text(gemm_plan const& plan, predicted_times const& t,
                                device const& dev) const = 0;

  /// Clusters of the launch: as many as run at the same time, each for several tiles.
  virtual std::int64_t clusters_of(config const& c, std::int64_t tiles, device const& dev) const {
    return std::min(tiles, resident(c, dev));
  }
  /// Sets the order of the tiles, if the kernels have one.
  virtual void choose_raster(gemm_plan&, device const&) const {}
  virtual bool starts_early(predicted_times const&, device const&) const { return false; }
  virtual std::string parts_of(predicted_times const& t) const { return parts_text(t); }
};

}  // namespace tw
