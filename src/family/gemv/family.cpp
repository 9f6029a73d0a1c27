// SPDX-License-Identifier: Apache-2.0
// family.cpp  The family gemv: GEMMs with up to 16 columns, as run, on CUDA cores or mma.sync.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "family/bind.hpp"
#include "family/gemv/config_of.hpp"
#include "family/gemv/launchers.hpp"
#include "family/gemv/params.hpp"
#include "family/launcher_of.hpp"
#include "family/normal_form.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/family/family.hpp"

namespace tw::gemv_family {

namespace {

constexpr std::int64_t max_groups = std::int64_t{1} << 30;  // running numbers are ints

gemv_config const& config(int kernel) {
  return instances()[static_cast<std::size_t>(kernel)].config;
}

/// As far as it does not depend on the kernel: K-major operands, no fused epilogue but scales.
bool computes_kind(gemm_problem const& q) {
  bool const k_major = major_of_a(q.a) == operand_major::k && major_of_b(q.b) == operand_major::k;
  bool const plain = operands_needed(q) == epilogue_operands{} || has_scales_alone(q);
  return k_major && !q.has_pointers() && plain && !q.scale_a && !q.scale_b;
}
/// Strides can be loaded 16 bytes at a time.
bool computes_with(gemv_config const& c, gemm_problem const& q) {
  return c.ab == q.a.type && c.ab == q.b.type && c.d == q.d.type && q.n <= c.cols &&
         q.k % c.piece() == 0;
}

/// Groups of rows of all GEMMs of the batch.
std::int64_t groups_of(gemv_config const& c, gemm_problem const& q) {
  return divide_up(q.m, c.cta_rows()) * q.batch;
}

struct times {
  double loads_us = 0, dram_us = 0, total_us = 0;
};

/// Not std::hypot: glibc 2.35 has a new version of it, without which programs would not start.
double root_of_squares(double x, double y) { return std::sqrt(x * x + y * y); }

/// DRAM, the iterations of a CTA's loop and what one SM reads limit together: their squares add
/// (docs/decisions/0014).
times predict(gemv_config const& c, gemm_problem const& q, int groups, int ctas,
              device const& dev) {
  gemv_calibration const& m = dev.model->gemv;
  auto const matrices = [&](matrix_desc const& x) {
    return x.batch_stride_elems == 0 ? 1.0 : static_cast<double>(q.batch);
  };
  auto const rows = static_cast<double>(q.m), cols = static_cast<double>(q.n);
  int const c_bytes = q.c && q.beta != 0 ? size_bytes(q.c->type) : 0;  // of an element
  double const bytes =
      (rows * matrices(q.a) + cols * matrices(q.b)) * static_cast<double>(q.k) * size_bytes(c.ab) +
      rows * cols * static_cast<double>(q.batch) * (size_bytes(c.d) + c_bytes);
  auto const iterations = static_cast<double>(divide_up(q.k / c.piece(), c.iteration_pieces()));
  auto const rounds = static_cast<double>(divide_up(groups, ctas));
  double const group = c.by_mma() ? iterations * m.turn_us_mma + m.group_us_mma
                                  : iterations * m.turn_us_fma + m.group_us_fma;
  double const iteration_bytes =
      static_cast<double>(c.cta_rows()) * c.iteration_pieces() * c.piece() * size_bytes(c.ab);
  double const sm =
      static_cast<double>(divide_up(groups, dev.sm_count)) * iterations * iteration_bytes;
  times t;
  t.dram_us = bytes / (q.n > 8       ? m.dram_bytes_per_us_16
                       : q.n > 4     ? m.dram_bytes_per_us_8
                       : c.cols == 1 ? m.dram_bytes_per_us
                                     : m.dram_bytes_per_us_columns);
  t.loads_us = root_of_squares(rounds * group, sm / m.sm_bytes_per_us);
  t.total_us = m.launch_us + root_of_squares(t.dram_us, t.loads_us);
  return t;
}

times times_of(gemm_plan const& plan, device const& dev) {
  gemv_config const& c = config_of(plan);
  return predict(c, plan.normal, static_cast<int>(groups_of(c, plan.normal)),
                 plan.schedule.clusters, dev);
}

class family final : public gemm_family {
 public:
  std::string_view id() const override { return "gemv"; }
  int kernel_count() const override { return static_cast<int>(instances().size()); }

  kernel_facts facts(int kernel) const override {
    gemv_config const& c = config(kernel);
    kernel_facts f;
    f.ab = c.ab, f.d = c.d;
    f.m = {1, 400}, f.n = {1, c.cols};
    f.k = {c.piece(), 300 * c.piece(), c.piece()};
    f.ld_step = c.piece();
    return f;
  }

  bool built(int kernel) const override {
    return emu_launchers()[static_cast<std::size_t>(kernel)] != nullptr;
  }
  std::string name(int kernel, plan_schedule const&) const override {
    return std::string(instances()[static_cast<std::size_t>(kernel)].name);
  }
  std::string tuning_text(int kernel) const override { return name(kernel, {}); }

  bool computes(gemm_problem const& q) const override {
    return computes_kind(q) && std::ranges::any_of(instances(), [&](instance const& i) {
             return computes_with(i.config, q);
           });
  }

  void add_plans(gemm_plan const& base, device const& dev, std::int64_t,
                 std::vector<gemm_plan>& plans) const override {
    if (dev.compute_capability != 90) return;  // machine code for sm_90a
    gemm_problem const& q = base.normal;
    if (!computes_kind(q) || base.repitch_a || base.repitch_b) return;
    for (int kernel = 0; kernel < kernel_count(); ++kernel) {
      gemv_config const& c = config(kernel);
      std::int64_t const groups = groups_of(c, q);
      if (!computes_with(c, q) || groups > max_groups) continue;
      gemm_plan& plan = plans.emplace_back(base);
      plan.family = this;
      plan.instance = kernel;
      plan.built = built(kernel);
      plan.kernel = name(kernel, {});
      plan.schedule.clusters =
          static_cast<int>(std::min<std::int64_t>(groups, c.ctas_per_sm * dev.sm_count));
      plan.predicted_us = times_of(plan, dev).total_us;
      // Every D is written by plain stores: the hint that says so does not apply.
      if (plan.direct_d) plan.hints.pop_back(), plan.direct_d = false;
    }
  }

  double predicted_us(gemm_plan const& plan, device const& dev) const override {
    return times_of(plan, dev).total_us;
  }

  void finish(gemm_plan& plan, device const& dev) const override {
    times const t = times_of(plan, dev);
    gemv_config const& c = config_of(plan);
    auto const groups = groups_of(c, plan.normal);
    int const ctas = plan.schedule.clusters;
    plan.terms = {};
    plan.terms.loads = t.loads_us;
    plan.terms.dram = t.dram_us;
    plan.terms.launch = dev.model->gemv.launch_us;
    plan.terms.waves = static_cast<double>(divide_up(groups, ctas));
    plan.starts_early = t.total_us < dev.model->early_start.max_gemv_us;
    plan.why = fmt::format(
        "{}{}few columns: {} groups of {} rows on {} CTAs, whose {} warps share K; predicted for "
        "{}: {:.1f} us (loads {:.1f}, DRAM {:.1f})",
        plan.swapped ? "swap-AB: " : "",
        plan.normal.batch != plan.problem.batch ? "the batch as one GEMM: " : "", groups,
        c.cta_rows(), ctas, c.warps_k, plan.predicted_for, t.total_us, t.loads_us, t.dram_us);
  }

  std::int64_t partials_bytes(gemm_plan const&) const override { return 0; }
  std::int64_t max_partials_bytes(int) const override { return 0; }

  void launch_emulated(gemm_plan const& plan, launch_form const& form,
                       emu::options const& options) const override {
    auto const launcher = launcher_of(emu_launchers(), plan);
    launcher(plan.schedule.clusters, make_params(plan, form.problem, form.operands), options);
  }
  int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                 bool early) const override {
    auto const launcher = launcher_of(gpu_launchers(), plan);
    return launcher(plan.schedule.clusters, make_params(plan, form.problem, form.operands), stream,
                    early);
  }

  std::string schedule_text(gemm_plan const& plan) const override {
    int const ctas = plan.schedule.clusters;
    return fmt::format("{} CTA{}", ctas, ctas == 1 ? "" : "s");
  }
  std::string loads_text(gemm_plan const& plan) const override {
    return fmt::format(
        "loads: {:.1f} of {:.1f} us for iterations of a CTA's loop that wait for each "
        "other",
        plan.terms.loads, plan.predicted_us);
  }
  tile_facts tiles(gemm_plan const& plan) const override {
    gemv_config const& c = config_of(plan);
    return {c.cta_rows(), c.cols, c.iteration_pieces() * c.piece(), plan.schedule.clusters};
  }
  sum_order order_of_sums(gemm_plan const& plan, device const&) const override {
    gemv_config const& c = config_of(plan);
    return {fmt::format("{} warps that share K, {}, then their sums", c.warps_k,
                        c.by_mma() ? "mma.sync of 16 elements of a permuted K"
                                   : "multiply-adds of each lane and a sum over the lanes"),
            "warps share K in a way of these kernels alone, which larger M and N do not have"};
  }
  std::optional<kernel_resources> resources(int kernel) const override {
    gemv_config const& c = config(kernel);
    std::int64_t const sums = 2 * c.warps_m * c.warps_k * c.cols * (c.rows + 4);  // gemv<C>::smem
    return kernel_resources{
        .cta = {.threads = c.threads(), .registers = 0, .smem_bytes = 4 * sums}};
  }
};

}  // namespace

gemm_family const& the_family() {
  static family const f;
  return f;
}

}  // namespace tw::gemv_family
