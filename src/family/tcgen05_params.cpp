// SPDX-License-Identifier: Apache-2.0
// tcgen05_params.cpp  Strides, extents and boxes of B with a gate, and the operands of an epilogue.
#include "family/tcgen05_params.hpp"

#include <algorithm>

#include "family/no_inner.hpp"
#include "family/operand_maps.hpp"
#include "family/result_scale.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/epilogue.hpp"

namespace tw {

namespace {

constexpr int store_rows = sm100_cta::warp_rows, store_bytes = sm100_cta::box_row_bytes;

/// The kernel stores the auxiliary output by TMA, in the boxes of D, unless TMA cannot address it
/// or gates and what they multiply are interleaved in it.
void put_aux(fused_params& f, gemm_problem const& q, void* base, int box_cols, target t) {
  matrix_desc const& m = *q.aux;
  f.aux = base;
  f.aux_pitch = m.pitch_elems;
  f.aux_batch_stride = m.batch_stride_elems;
  if (!tma_addressable(m, q.m, q.batch, base) || q.epilogue.gate == gating::interleaved) return;
  f.aux_map = map_of(base, m, matrices_of(q, m), {q.n, q.m}, {box_cols, store_rows},
                     swizzle_mode::b128, t, false);
  f.aux_tma_end = tma_end_of(q.n, m.type, box_cols);
}

}  // namespace

tensor_map tcgen05_gated_map(void const* base, gemm_problem const& q, int span, int columns,
                             target t) {
  matrix_desc const b = as_mapped(q.b);
  bool const one_line = is_shared_line(b);
  std::int64_t const matrices = matrices_of(q, b),
                     pitch = one_line ? tma_chunk_bytes : b.pitch_bytes();
  gate_columns const gate = gate_columns_of(q);
  tensor_map_desc d;
  d.base = const_cast<void*>(base);
  d.type = b.type;
  d.rank = 4;
  std::int64_t const dims[] = {q.k, one_line ? 1 : q.n / 2, one_line ? 1 : 2, matrices};
  std::int64_t const strides[] = {gate.step * pitch, gate.up_offset * pitch,
                                  matrices > 1 ? b.batch_stride_bytes() : pitch};
  std::int32_t const box[] = {span, columns, 1, 1};
  std::copy_n(dims, 4, d.dim);
  std::copy_n(strides, 3, d.stride_bytes);
  std::copy_n(box, 4, d.box);
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, t);
}

epilogue_params tcgen05_epilogue(gemm_plan const& plan, gemm_problem const& q,
                                 gemm_operands const& o, bool placed, target t) {
  epilogue_params e{};
  std::int64_t const cols = result_cols(q.epilogue, q.n);
  bool const block_result = is_block_result(q);
  int const box_cols = block_result ? 0 : store_bytes / size_bytes(q.d.type);
  if (!plan.direct_d && !block_result) {
    e.d = map_of(o.d, q.d, matrices_of(q, q.d), {cols, q.m}, {box_cols, store_rows},
                 swizzle_mode::b128, t, placed);
    e.tma_end = tma_end_of(cols, q.d.type, box_cols);
  }
  e.data = o.d;
  e.matrices = q.d.has_pointers() ? o.d_array : nullptr;
  e.pitch = q.d.pitch_elems;
  e.batch_stride = q.d.has_pointers() ? 0 : q.d.batch_stride_elems;
  e.m = static_cast<int>(q.m);
  e.n = static_cast<int>(cols);
  e.alpha = q.alpha;
  e.beta = q.beta;
  e.c = view_of_c(q, o);
  e.fused = fused_of(q, o, plan.swapped);
  if (!block_result) e.scales = scales_of_rows(q, o);
  if (q.aux) put_aux(e.fused, q, o.aux, box_cols, t);
  return e;
}

}  // namespace tw
