// SPDX-License-Identifier: Apache-2.0
// operand_maps.cpp  Strides, extents and boxes of a matrix as TMA takes them.
#include "family/operand_maps.hpp"

#include <algorithm>
#include <limits>

#include "family/no_inner.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"

namespace tw {

std::int64_t matrices_of(gemm_problem const& q, matrix_desc const& m) {
  return matrices_of(m, q.batch);
}
std::int64_t matrices_of(matrix_desc const& m, std::int64_t matrices) {
  return m.batch_stride_elems == 0 || m.has_pointers() ? 1 : matrices;
}

tensor_map map_of(void const* base, matrix_desc const& m, std::int64_t batch, extents e,
                  operand_box box, swizzle_mode swizzle, target t, bool placed,
                  bool l2_fetches_128) {
  tensor_map_desc d;
  if (is_shared_line(m)) e.outer = 1;
  d.base = const_cast<void*>(base);
  d.type = m.type;
  d.rank = 2;
  d.dim[0] = e.inner;
  d.dim[1] = e.outer;
  std::int64_t const pitch = m.pitch_bytes();
  d.stride_bytes[0] =
      e.outer == 1 ? std::max<std::int64_t>(round_up(pitch, tma_chunk_bytes), tma_chunk_bytes)
                   : pitch;
  d.box[0] = box.inner;
  d.box[1] = box.outer;
  d.swizzle = swizzle;
  d.l2_fetches_128 = l2_fetches_128;
  if (m.has_pointers()) return make_tensor_map(in_all_memory(d), t);
  d.rank = placed ? 4 : 3;
  d.dim[2] = batch;
  // Of a batch of one any that TMA accepts.
  d.stride_bytes[1] = batch > 1 ? m.batch_stride_bytes() : d.stride_bytes[0];
  if (placed) d.stride_bytes[2] = d.stride_bytes[1];
  return make_tensor_map(d, t);
}

matrix_desc as_mapped(matrix_desc m) {
  m.type = mapped_type(m.type);
  return m;
}

int tma_end_of(std::int64_t inner, elem type, int tile) {
  bool const whole_chunks = inner * size_bytes(type) % tma_chunk_bytes == 0;
  constexpr int widest_box = 256;  // elements: a box may end beyond the last index
  return whole_chunks ? std::numeric_limits<int>::max() - widest_box
                      : static_cast<int>(inner / tile * tile);
}

}  // namespace tw
