// SPDX-License-Identifier: Apache-2.0
// params.cpp  Addresses, strides, extents and the order of tiles of a launch.
#include "family/sm80_gemm/params.hpp"

#include <fmt/format.h>

#include "family/bind.hpp"
#include "family/sm80_gemm/computes.hpp"
#include "family/tile_order.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw::sm80_gemm_family {

namespace {

bool begins_at_chunk(void const* base) {
  return reinterpret_cast<std::uintptr_t>(base) % tma_chunk_bytes == 0;
}

}  // namespace

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
  auto const check = [](char const* name, matrix_desc const& m, void const* base) {
    if (m.has_pointers()) return;
    if (auto const address = reinterpret_cast<std::uintptr_t>(base); !begins_at_chunk(base))
      throw rejected({"TW0409", fmt::format("address of {}", name), fmt::format("{:#x}", address),
                      "a multiple of 16, as the plan was made for",
                      "plan with the operands that the launch will have"});
  };
  check(plan.swapped ? "B" : "A", q.a, o.a);
  check(plan.swapped ? "A" : "B", q.b, o.b);
  sm80_config const& c = config_of(plan);
  sm80_params p{};
  // Of a single line any pitch will do, but also the lines that are not there begin at a multiple
  // of 16 bytes.
  auto const operand = [](void const* data, void const* const* array, matrix_desc const& m,
                          std::int64_t lines) {
    std::int64_t const pitch = lines == 1 ? sm80_config::chunk : m.pitch_elems;
    if (m.has_pointers()) return sm80_operand{nullptr, pitch, 0, array};
    return sm80_operand{data, pitch, m.batch_stride_elems, nullptr};
  };
  p.a = operand(o.a, o.a_array, q.a, extents_of_a(q).outer);
  p.b = operand(o.b, o.b_array, q.b, extents_of_b(q).outer);
  p.walk = tile_walk(order_of(plan));
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(result_cols(q.epilogue, q.n));
  p.k = static_cast<int>(q.k);
  p.k_tiles = static_cast<int>(divide_up(q.k, c.tile_k));
  epilogue_params& e = p.epilogue;
  bool const by_pointers = q.d.has_pointers();
  p.d_chunks = !plan.direct_d && (by_pointers || begins_at_chunk(o.d)) ? 1 : 0;
  e.data = by_pointers ? nullptr : o.d;
  e.matrices = by_pointers ? o.d_array : nullptr;
  e.pitch = q.d.pitch_elems;
  e.batch_stride = by_pointers ? 0 : q.d.batch_stride_elems;
  e.m = p.m;
  e.n = p.n;
  e.alpha = q.alpha;
  e.beta = q.beta;
  e.c = view_of_c(q, o);
  e.fused = fused_of(q, o, plan.swapped);
  if (!c.aux()) return p;
  e.fused.aux = o.aux;
  e.fused.aux_pitch = q.aux->pitch_elems;
  e.fused.aux_batch_stride = q.aux->batch_stride_elems;
  p.aux_chunks =
      tma_addressable(*q.aux, q.m, q.batch, o.aux) && q.epilogue.gate != gating::interleaved ? 1
                                                                                             : 0;
  return p;
}

}  // namespace tw::sm80_gemm_family
