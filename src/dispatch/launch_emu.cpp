// SPDX-License-Identifier: Apache-2.0
// launch_emu.cpp  Runs a product in the emulator.
#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "dispatch/normal_form.hpp"
#include "dispatch/params.hpp"
#include "registry/registry.hpp"

namespace tw {

namespace {

/// An operand copied to a pitch that TMA can address.
class padded_operand {
 public:
  padded_operand(matrix_desc& m, extents e, std::int64_t batch, void const*& base) {
    padded const to = padded_copy(m, e, batch);
    std::size_t const elem_bytes = static_cast<std::size_t>(size_bytes(m.type));
    memory_.reset(static_cast<std::byte*>(
        ::operator new (static_cast<std::size_t>(to.bytes), std::align_val_t{64})));
    for (std::int64_t b = 0; b < to.matrices; ++b)
      for (std::int64_t i = 0; i < e.outer; ++i) {
        std::int64_t const from_elem = b * m.batch_stride_elems + i * m.pitch_elems;
        std::int64_t const to_elem = b * to.batch_stride_elems + i * to.pitch_elems;
        std::memcpy(
            memory_.get() + static_cast<std::size_t>(to_elem) * elem_bytes,
            static_cast<std::byte const*>(base) + static_cast<std::size_t>(from_elem) * elem_bytes,
            static_cast<std::size_t>(e.inner) * elem_bytes);
      }
    m.pitch_elems = to.pitch_elems;
    m.batch_stride_elems = to.batch_stride_elems;
    base = memory_.get();
  }

 private:
  struct free_aligned {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, free_aligned> memory_;
};

}  // namespace

int emulated_sms(emu_options const& opt) {
  int const cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return opt.sms > 0 ? opt.sms : 2 * (opt.os_threads > 0 ? opt.os_threads : cores);
}

void gemm_emulated(gemm_problem const& p, gemm_operands const& o, emu_options const& opt) {
  gemm_emulated(plan_gemm(p, o, emulated_sms(opt)), o, opt);
}

void gemm_emulated(gemm_plan const& plan, gemm_operands const& given, emu_options const& opt) {
  check_operands(plan.problem, given);
  check_workspace(plan, given);
  registry::emu_launcher const launcher = registry::find_emu(plan.config);
  if (launcher == nullptr)
    throw rejected({"TW0505", "kernel", plan.kernel, "a kernel of the registry",
                    "plan again with this version of the library"});
  gemm_problem q = plan.normal;
  gemm_operands o = plan.swapped ? transposed(given) : given;

  std::unique_ptr<padded_operand> a, b;
  if (plan.repitch_a) a = std::make_unique<padded_operand>(q.a, extents_of_a(q), q.batch, o.a);
  if (plan.repitch_b) b = std::make_unique<padded_operand>(q.b, extents_of_b(q), q.batch, o.b);

  gemm_params const params = make_params(plan, q, o, target::emu);
  emu_options run = opt;
  gemm_config const& c = plan.config;
  run.expected_macs = static_cast<double>(params.order.tiles()) * c.cluster_m * c.cluster_n *
                      c.tile_m * c.tile_n * static_cast<double>(params.work.k_tiles) * c.tile_k;
  launcher(plan.clusters * plan.config.cluster(), params, run);
}

}  // namespace tw
