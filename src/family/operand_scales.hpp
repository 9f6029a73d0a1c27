// SPDX-License-Identifier: Apache-2.0
// operand_scales.hpp  Scales of A and B for blocks of K as kernels read them, and their size.
#pragma once

#include <bit>
#include <optional>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/operand_scales.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// Scales of an operand that has `outer` rows or columns in memory. Without scales all are 1.
inline operand_scales scales_of(std::optional<scale_desc> const& given, void const* data,
                                std::int64_t outer, std::int64_t k) {
  if (!given) return {};
  scale_desc const s = canonical(*given, outer, k);
  auto const log2 = [](std::int64_t n) {
    return n == 0 ? all_outer_log2 : std::countr_zero(static_cast<std::uint64_t>(n));
  };
  bool const one_k_block = s.block_k == 0;
  return {data,
          s.stride_outer,
          one_k_block ? 0 : s.stride_k,
          s.batch_stride,
          log2(s.block_outer),
          one_k_block ? 0 : log2(s.packed_k),
          is_exponent(s.type) ? 1 : 0};
}

/// Scales of A or B of a GEMM as run.
inline operand_scales scales_of(gemm_problem const& q, gemm_operands const& o, role x) {
  return scales_of(scale(q, x), address(o, scales_of(x)), stored_extent(q, x), scaled_k(q));
}

/// Can bulk copies load a tile's row scales for a K block? They are adjacent float32, begin at
/// a multiple of 16 bytes and are a multiple of 16 bytes long, also in the last tile. PTX ISA,
/// "cp.async.bulk". (Tiles begin at multiples of 64 rows.)
inline bool can_bulk_copy(operand_scales const& s, std::int64_t rows) {
  constexpr int bulk_bytes = 16;
  constexpr int step = bulk_bytes / size_bytes(elem::f32);
  return s.data != nullptr && s.ue8m0 == 0 && s.outer_log2 == 0 && s.stride_outer == 1 &&
         s.packed_log2 == 0 && rows % step == 0 && s.stride_k % step == 0 &&
         s.batch_stride % step == 0 && reinterpret_cast<std::uintptr_t>(s.data) % bulk_bytes == 0;
}

/// Bytes of all scales of an operand with `outer` rows or columns.
inline double scale_bytes(std::optional<scale_desc> const& s, std::int64_t outer, std::int64_t k,
                          std::int64_t batch) {
  if (!s) return 0;
  double const matrices = s->batch_stride == 0 ? 1.0 : static_cast<double>(batch);
  return matrices * static_cast<double>(scale_blocks(s->block_outer, outer)) *
         static_cast<double>(scale_blocks(s->block_k, k)) * size_bytes(s->type);
}

/// Bytes of all scales of A and B.
inline double scale_bytes(gemm_problem const& p) {
  double bytes = 0;
  for (role const x : a_and_b) bytes += scale_bytes(scale(p, x), outer_extent(p, x), p.k, p.batch);
  return bytes;
}

}  // namespace tw
