// SPDX-License-Identifier: Apache-2.0
// staged.cpp  Where the float32 D lies, and what becomes of it.
#include "dispatch/plan/staged.hpp"

#include "family/bind.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"

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

block_quantize_params block_quantisation_of(gemm_plan const& plan, gemm_operands const& given,
                                            std::int64_t batch) {
  gemm_problem const& p = plan.problem;
  scale_desc const& s = p.scale_d->desc;
  matrix_desc const from = staged_d(p);
  auto const at = [](void* base, std::int64_t bytes) {
    return static_cast<void*>(static_cast<std::byte*>(base) + bytes);
  };
  block_quantize_params q{};
  q.from = at(given.workspace, workspace_of(plan).staged_d + batch * from.batch_stride_bytes());
  q.from_type = elem::f32;
  q.to = at(given.d, batch * p.d.batch_stride_bytes());
  q.factors = at(given.scale_d, batch * s.batch_stride);
  if (s.second_level)
    q.second_level = static_cast<float*>(at(given.scale_d, second_level_offset(p) + 4 * batch));
  q.from_pitch = from.pitch_elems;
  q.to_pitch_bytes = p.d.pitch_bytes();
  q.factor_outer = s.stride_outer, q.factor_k = s.stride_k;
  q.rows = p.m, q.cols = result_cols(p.epilogue, p.n);
  q.format = result_format(p);
  q.tiled = s.tiled ? 1 : 0;
  q.by_words = q.to_pitch_bytes % 4 == 0 && reinterpret_cast<std::uintptr_t>(q.to) % 4 == 0;
  return q;
}

double predicted_quantise_us(gemm_problem const& p, device const& dev) {
  double const elems = static_cast<double>(p.batch) * static_cast<double>(p.m) *
                       static_cast<double>(result_cols(p.epilogue, p.n));
  constexpr double bytes_per_elem = 4 + 1;  // the second read is from L2
  bool const after_amax = is_block_result(p) && p.scale_d->desc.second_level;
  int const launches = after_amax ? 3 : 1;  // dispatch/quantize/block_quantize.hpp
  return static_cast<double>(p.batch * launches) * dev.model->scales.launch_us +
         elems * bytes_per_elem / (dev.dram_ceiling_gb_per_s * 1e3);
}

}  // namespace tw
