// SPDX-License-Identifier: Apache-2.0
// tcgen05_family.hpp  The part that is equal in the families of Blackwell kernels: devices,
//                     clusters of one CTA or of a pair, tensor memory.
#pragma once

#include <fmt/format.h>

#include "family/tcgen05_cost.hpp"
#include "family/tcgen05_memory.hpp"
#include "family/tiled_family.hpp"

namespace tw {

template <class Kernels>
class tcgen05_family : public tiled_family<Kernels> {
 public:
  std::string schedule_text(gemm_plan const& plan) const override {
    return clusters_text(this->config_at(plan.instance), plan.schedule.clusters);
  }
  kernel_memory memory(int kernel) const override { return memory_of(this->config_at(kernel)); }

 protected:
  using typename family_of<Kernels>::config;
  using typename family_of<Kernels>::params;

  /// Machine code of sm_100f runs on these two.
  bool runs_on(device const& dev) const override {
    return dev.compute_capability == 100 || dev.compute_capability == 103;
  }
  std::int64_t tiles_of(config const& c, gemm_problem const& q) const override {
    return divide_up(q.m, c.tile_m()) * divide_up(q.n, c.tile_n) * q.batch;
  }
  std::int64_t resident(config const& c, device const& dev) const override {
    return resident_tcgen05_clusters(c.ctas, dev);
  }
  std::string work_text(gemm_plan const& plan, predicted_times const&,
                        device const&) const override {
    config const& c = this->config_at(plan.instance);
    return fmt::format("{} of {}x{} on {}", counted(tiles_of(c, plan.normal), "tile"), c.tile_m(),
                       c.tile_n, clusters_text(c, plan.schedule.clusters));
  }
  tile_facts tile_of(config const& c) const override {
    return {c.tile_m() / c.ctas, c.tile_n, c.tile_k()};
  }
  int ctas_of(gemm_plan const& plan) const override {
    return plan.schedule.clusters * this->config_at(plan.instance).ctas;
  }
  double macs_of(gemm_plan const& plan, params const& p) const override {
    config const& c = this->config_at(plan.instance);
    return static_cast<double>(p.walk.order.tiles()) * c.tile_m() * c.tile_n *
           static_cast<double>(p.k_blocks) * c.tile_k();
  }
  /// The kernels do not wait for another launch's results, which the stream does.
  bool may_start_early() const override { return false; }

 private:
  static std::string clusters_text(config const& c, int clusters) {
    return counted(clusters, c.ctas == 2 ? "CTA pair" : "CTA");
  }
};

}  // namespace tw
