// SPDX-License-Identifier: Apache-2.0
// tcgen05_maps.cpp  Strides, extents and boxes of B with a gate and of the auxiliary output.
#include "family/tcgen05_maps.hpp"

#include <algorithm>

#include "family/no_inner.hpp"
#include "family/operand_maps.hpp"
#include "family/workspace.hpp"

namespace tw {

tensor_map tcgen05_gated_map(void const* base, gemm_problem const& q, int span, int columns,
                             target t) {
  matrix_desc const b = as_mapped(q.b);
  bool const interleaved = q.epilogue.gate == gating::interleaved, one_line = is_shared_line(b);
  std::int64_t const matrices = matrices_of(q, b), pitch = one_line ? 16 : b.pitch_bytes();
  std::int64_t const up = interleaved ? pitch : q.n / 2 * pitch;
  tensor_map_desc d;
  d.base = const_cast<void*>(base);
  d.type = b.type;
  d.rank = 4;
  std::int64_t const dims[] = {q.k, one_line ? 1 : q.n / 2, one_line ? 1 : 2, matrices};
  std::int64_t const strides[] = {interleaved ? 2 * pitch : pitch, up,
                                  matrices > 1 ? b.batch_stride_bytes() : up};
  std::int32_t const box[] = {span, columns, 1, 1};
  std::copy_n(dims, 4, d.dim);
  std::copy_n(strides, 3, d.stride_bytes);
  std::copy_n(box, 4, d.box);
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, t);
}

void put_tcgen05_aux(fused_params& f, gemm_problem const& q, void* base, target t) {
  constexpr int store_rows = 32, store_bytes = 128;  // a box of sm100_epilogue
  matrix_desc const& m = *q.aux;
  f.aux = base;
  f.aux_pitch = m.pitch_elems;
  f.aux_batch_stride = m.batch_stride_elems;
  if (!tma_addressable(m, q.m, q.batch, base) || q.epilogue.gate == gating::interleaved) return;
  int const cols = store_bytes / size_bytes(m.type);
  f.aux_map = map_of(base, m, matrices_of(q, m), {q.n, q.m}, {cols, store_rows}, swizzle_mode::b128,
                     t, false);
  f.aux_tma_end = tma_end_of(q.n, m.type, cols);
}

}  // namespace tw
