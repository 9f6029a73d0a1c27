// SPDX-License-Identifier: Apache-2.0
// staged.cpp  Where the float32 D lies, and what becomes of it.
#include "dispatch/staged.hpp"

#include "family/bind.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

gemm_problem with_staged_d(gemm_problem p) {
  p.d = staged_d(p);
  p.scale_d.reset();
  return p;
}

staged_quantisation quantisation_of(gemm_plan const& plan, gemm_operands const& given,
                                    std::int64_t batch) {
  gemm_problem const& p = plan.problem;
  output_scales const& s = *p.scale_d;
  matrix_desc const from = staged_d(p);
  auto const at = [&](void* base, std::int64_t stride, elem type) {
    return static_cast<std::byte*>(base) + batch * stride * size_bytes(type);
  };
  void* const staged = static_cast<std::byte*>(given.workspace) + workspace_of(plan).staged_d;
  return {{.outer = p.m,
           .k = result_cols(p.epilogue, p.n),
           .from = from,
           .to = p.d,
           .scale = s.desc,
           .power_of_two = s.power_of_two,
           .given = s.given},
          {.from = at(staged, from.batch_stride_elems, from.type),
           .to = at(given.d, p.d.batch_stride_elems, p.d.type),
           .scales = at(given.scale_d, s.desc.batch_stride, s.desc.type)}};
}

double predicted_quantise_us(gemm_problem const& p, device const& dev) {
  double const elems = static_cast<double>(p.batch) * static_cast<double>(p.m) *
                       static_cast<double>(result_cols(p.epilogue, p.n));
  constexpr double bytes_per_elem = 4 + 1;  // the second read is from L2
  return static_cast<double>(p.batch) * dev.model->scales.launch_us +
         elems * bytes_per_elem / (dev.dram_ceiling_gb_per_s * 1e3);
}

}  // namespace tw
