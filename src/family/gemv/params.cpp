// SPDX-License-Identifier: Apache-2.0
// params.cpp  Addresses, strides and extents of a launch.
#include "family/gemv/params.hpp"

#include <fmt/format.h>

#include "family/bind.hpp"
#include "family/gemv/config_of.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::gemv_family {

gemv_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o) {
  auto const check = [](char const* name, void const* base) {
    if (auto const address = reinterpret_cast<std::uintptr_t>(base); address % 16 != 0)
      throw rejected({"TW0409", fmt::format("address of {}", name), fmt::format("{:#x}", address),
                      "a multiple of 16, as the plan was made for",
                      "plan with the operands that the launch will have"});
  };
  check(plan.swapped ? "B" : "A", o.a);
  check(plan.swapped ? "A" : "B", o.b);
  bool const row_major = q.d.ord == order::row_major;
  gemv_params p{};
  p.a = {o.a, q.a.pitch_elems, q.a.batch_stride_elems};
  p.b = {o.b, q.b.pitch_elems, q.b.batch_stride_elems};
  p.d = {o.d, row_major ? q.d.pitch_elems : 1, row_major ? 1 : q.d.pitch_elems,
         q.d.batch_stride_elems};
  p.c = view_of_c(q, o);
  fused_params const f = fused_of(q, o, plan.swapped);
  p.scales = {f.row_scale, f.col_scale, f.row_scale_step, f.col_scale_step,
              f.col_scale_first ? 1 : 0};
  p.alpha = q.alpha;
  p.beta = q.beta;
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(q.n);
  p.pieces = static_cast<int>(q.k / config_of(plan).piece());
  p.groups = static_cast<int>(divide_up(q.m, config_of(plan).cta_rows()));
  p.items = p.groups * static_cast<int>(q.batch);
  return p;
}

}  // namespace tw::gemv_family
