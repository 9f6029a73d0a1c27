// SPDX-License-Identifier: Apache-2.0
// params.cpp  Addresses, strides, extents and the order of tiles of a launch.
#include "family/sm80_gemm/params.hpp"

#include <fmt/format.h>

#include "family/bind.hpp"
#include "family/sm80_gemm/config_of.hpp"
#include "family/tile_order.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::sm80_gemm_family {

tile_order order_of(gemm_plan const& plan) {
  sm80_config const& c = config_of(plan);
  gemm_problem const& q = plan.normal;
  return ordered({.m_tiles = static_cast<int>(divide_up(q.m, c.tile_m)),
                  .n_tiles = static_cast<int>(divide_up(q.n, c.tile_n)),
                  .band = 1,
                  .batch = static_cast<int>(q.batch)},
                 plan.schedule);
}

sm80_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o) {
  auto const check = [](char const* name, void const* base) {
    if (auto const address = reinterpret_cast<std::uintptr_t>(base); address % 16 != 0)
      throw rejected({"TW0409", fmt::format("address of {}", name), fmt::format("{:#x}", address),
                      "a multiple of 16, as the plan was made for",
                      "plan with the operands that the launch will have"});
  };
  check(plan.swapped ? "B" : "A", o.a);
  check(plan.swapped ? "A" : "B", o.b);
  sm80_config const& c = config_of(plan);
  sm80_params p{};
  // Of a single line any pitch will do, but also the lines that are not there begin at a multiple
  // of 16 bytes.
  auto const operand = [](void const* data, matrix_desc const& m, std::int64_t lines) {
    std::int64_t const pitch = lines == 1 ? sm80_config::chunk : m.pitch_elems;
    return sm80_operand{data, pitch, m.batch_stride_elems};
  };
  p.a = operand(o.a, q.a, extents_of_a(q).outer);
  p.b = operand(o.b, q.b, extents_of_b(q).outer);
  p.walk = tile_walk(order_of(plan));
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(q.n);
  p.k = static_cast<int>(q.k);
  p.k_tiles = static_cast<int>(divide_up(q.k, c.tile_k));
  p.d_chunks = plan.direct_d || reinterpret_cast<std::uintptr_t>(o.d) % 16 != 0 ? 0 : 1;
  epilogue_params& e = p.epilogue;
  e.data = o.d;
  e.pitch = q.d.pitch_elems;
  e.batch_stride = q.d.batch_stride_elems;
  e.m = p.m;
  e.n = p.n;
  e.alpha = q.alpha;
  e.beta = q.beta;
  e.c = view_of_c(q, o);
  e.fused = fused_of(plan, q, o);
  return p;
}

}  // namespace tw::sm80_gemm_family
