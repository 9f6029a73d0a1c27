// SPDX-License-Identifier: Apache-2.0
// computes.hpp  Which GEMMs a kernel of the family computes.
#pragma once

#include <algorithm>

#include "family/normal_form.hpp"
#include "family/result_scale.hpp"
#include "tilewright/kernel/operand_scales.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

/// Are there less than 2^32 scales of A, and of B? The kernels number them with 32 bits.
inline bool numbers_scales_in_32_bits(gemm_problem const& q) {
  return std::ranges::all_of(a_and_b, [&](role x) {
    auto const& s = scale(q, x);
    if (!s) return true;
    std::int64_t batches = 0, all = 0;
    return !__builtin_mul_overflow(matrix_count(q, x) - 1, s->batch_stride, &batches) &&
           !__builtin_add_overflow(scale_extent(*s, stored_extent(q, x), scaled_k(q)), batches,
                                   &all) &&
           all < std::int64_t{1} << 32;
  });
}

/// Has a kernel code for block scales of B alone, and none for column scales?
inline bool takes_scales_of_blocks(gemm_config const& c) {
  return c.in_turn() && c.sums == sum_form::scaled;
}
/// Has a tile of the kernel one block scale of B, with a gate one for the gate columns and one for
/// the up columns? With a split gate N/2 is a multiple of the tile's columns of D then.
inline bool has_scales_of_blocks(gemm_config const& c, gemm_problem const& q) {
  auto const& of_b = scale(q, role::b);
  if (!of_b || of_b->block_outer == 0) return true;
  return of_b->block_outer >= 1 << block_outer_log2 &&
         (q.epilogue.gate != gating::split || q.n / 2 % c.cols_of_d() == 0);
}

/// Does a kernel keep its sums as the problem wants them?
inline bool keeps_sums(gemm_config const& c, gemm_problem const& q) {
  gemm_precision const& wanted = q.precision;
  if (is_block_scaled(q)) return false;
  if (c.scaled() || has_scales(q)) {
    return c.scaled() && has_scales(q) && c.promote_k() == promotion_interval(q) &&
           (!takes_scales_of_blocks(c) || has_scales_of_blocks(c, q)) &&
           numbers_scales_in_32_bits(q);
  }
  if (is_fp8(c.a.multiplied)) return c.promote_k() == wanted.promote_k;
  return c.sums == sum_form::plain || wanted.f16_sums;
}

/// Does a kernel compute the scales that the problem wants of D? It finds the amax of 128 columns
/// of a row; of a transposed D of 128 rows of a column.
inline bool scales_result(gemm_config const& c, gemm_problem const& q) {
  if (!c.operands().scales || q.scale_d->given) return true;
  if (!c.finds_amax_along_m()) return has_scales_of_row_blocks(q);
  if (is_block_scale(q.scale_d->desc) || is_block_scale(transposed(*q.scale_d).desc)) return false;
  std::int64_t const cols = result_cols(q.epilogue, q.n);
  scale_desc const s = canonical(q.scale_d->desc, q.m, cols);
  return is_single(s.block_k, cols) && is_scale_block(s.block_outer, q.m) &&
         q.scale_d->desc.packed_k == 1;
}

/// The weight format in the configuration of a kernel that computes a problem with weights `f`.
constexpr weight_format in_blocks(weight_format f) {
  f.gate = gating::none;  // of the epilogue
  if (f && f.group != 16 && f.group != 32) f.group = f.block_k();
  return f;
}

/// Do warps gather the rows of `q`? They copy elements as they are, and float32 is rounded to tf32
/// by TMA alone. A row's place in A is a 32-bit number of chunks of 16 bytes.
inline bool gathers(gemm_config const& c, gemm_problem const& q) {
  matrix_desc const& m = c.ragged == group_axis::m ? q.a : q.b;
  constexpr std::int64_t most_bytes = tma_chunk_bytes * std::int64_t{0xFFFFFFFF};
  return c.gathers() && m.type == multiplied_type(m.type) &&
         m.pitch_bytes() <= most_bytes / std::max<std::int64_t>(1, q.groups->gather_from);
}

/// Does a kernel with this configuration compute `q`, as run?
inline bool computes(gemm_config const& c, gemm_problem const& q) {
  return c.weights() == in_blocks(q.weights_a) && !q.weights_b &&
         c.a.multiplied == multiplied_type(q.a.type) &&
         c.b.multiplied == multiplied_type(q.b.type) && c.d == q.d.type && keeps_sums(c, q) &&
         c.a.major == major_of_a(q.a) && c.b.major == major_of_b(q.b) &&
         c.d_m == (q.d.ord == order::col_major) &&
         c.ragged == (q.groups ? q.groups->axis : group_axis::none) &&
         (!q.groups || q.groups->gather_from == 0 || gathers(c, q)) &&
         (c.operands() == operands_needed(q) || (takes_scales(c) && has_scales_alone(q))) &&
         scales_result(c, q) && (c.by_pointers() || !q.has_pointers());
}

}  // namespace tw
