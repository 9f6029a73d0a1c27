// SPDX-License-Identifier: Apache-2.0
// ordered_rows.cpp  The copy has padded lines; its scales are adjacent along the rows.
#include "family/ordered_rows.hpp"

#include <algorithm>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/problem/group_slices.hpp"

namespace tw {

namespace {

role ragged_role(gemm_problem const& q) {
  return q.groups->axis == group_axis::m ? role::a : role::b;
}
/// Scales for each row are copied with the rows.
bool has_own_scale(scale_desc const& s) { return s.block_outer == 1; }
bool has_epilogue_scale(gemm_problem const& q, role x) {
  auto const& v = q.epilogue.*row_of(epilogue_scale_of(x)).vector;
  return bool{v} && !v.one;
}
/// Scales of all rows for a block of K, at multiples of 16 bytes.
std::int64_t scale_pitch(gemm_problem const& q) { return round_up(ragged_extent(q), 16); }
padded copy_of(gemm_plan const& plan) {
  gemm_problem const& q = plan.normal;
  return padded_copy(plan.ordered->from, {q.k, ragged_extent(q)}, 1);
}
std::int64_t blocks_of(scale_desc const& s, std::int64_t k) {
  return s.block_k == 0 ? 1 : blocks_in(k, s.block_k);
}

}  // namespace

bool may_order_rows(gemm_problem const& q) {
  if (!q.groups || q.groups->gather_from == 0) return false;
  role const x = ragged_role(q);
  bool const along_k = x == role::a ? q.a.ord == order::row_major : q.b.ord == order::col_major;
  if (!along_k) return false;
  auto const& s = scale(q, x);
  if (!s) return true;
  if (s->tiled || s->packed_k != 1) return false;
  if (has_own_scale(*s)) return !has_epilogue_scale(q, x);  // a launch copies one kind
  return s->block_outer == 0;
}

void order_rows(gemm_plan& plan) {
  gemm_problem& q = plan.normal;
  role const x = ragged_role(q);
  plan.ordered = {x, *matrix_of(q, x), *q.groups, scale(q, x)};
  q.groups->gather_from = 0, q.groups->choices = 1;
  matrix_of(q, x)->pitch_elems = copy_of(plan).pitch_elems;
  if (auto& s = scale(q, x); s && has_own_scale(*s))
    s->stride_outer = 1, s->stride_k = scale_pitch(q);
}

ordered_bytes ordered_bytes_of(gemm_plan const& plan) {
  if (!plan.ordered) return {};
  gemm_problem const& q = plan.normal;
  ordered_bytes bytes{copy_of(plan).bytes};
  auto const& s = plan.ordered->scale_from;
  if (s && has_own_scale(*s))
    bytes.scales = scale_pitch(q) * blocks_of(*s, q.k) * size_bytes(s->type);
  else if (has_epilogue_scale(q, plan.ordered->of))
    bytes.scales = scale_pitch(q) * size_bytes(elem::f32);
  return bytes;
}

void bind_ordered_rows(gemm_plan const& plan, launch_form& f, void* rows, void* scales) {
  gemm_problem const& q = plan.normal;
  group_desc const& g = plan.ordered->groups;
  role const x = plan.ordered->of;
  matrix_desc const& from = plan.ordered->from;
  gemm_operands& o = f.operands;
  ordered_rows_params& p = f.ordered;
  p.sizes = sizes_of_groups(q, o);
  p.group.gather = static_cast<std::int32_t const*>(o.gather);
  p.group.choices = divisor(static_cast<int>(g.choices));
  p.group.gather_from = static_cast<int>(g.gather_from);
  p.group.status = o.group_status;
  p.from = address(o, x), p.to = rows;
  p.from_pitch = from.pitch_bytes(), p.to_pitch = matrix_of(q, x)->pitch_bytes();
  p.elem_bytes = std::max(1, size_bytes(from.type));
  p.row_bytes = q.k * size_bits(from.type) / 8;
  constexpr std::int64_t most_ctas = 1024;
  p.ctas = static_cast<int>(
      std::clamp(divide_up(ragged_extent(q), std::int64_t{copy_rows_in_order::rows}) + g.count,
                 std::int64_t{1}, most_ctas));
  set_address(o, x, rows);
  o.gather = nullptr;
  auto const& s = plan.ordered->scale_from;
  role const scaled = s && has_own_scale(*s)     ? scales_of(x)
                      : has_epilogue_scale(q, x) ? epilogue_scale_of(x)
                                                 : role::none;
  if (scaled == role::none) return;
  bool const of_blocks = scaled == scales_of(x);
  p.scales_from = address(o, scaled), p.scales_to = scales;
  p.scale_stride_row = of_blocks ? s->stride_outer : 1;
  p.scale_stride_k = of_blocks ? s->stride_k : 0;
  p.scale_to_stride_k = scale_pitch(q);
  p.blocks = of_blocks ? static_cast<int>(blocks_of(*s, q.k)) : 1;
  p.scale_bytes = size_bytes(of_blocks ? s->type : elem::f32);
  set_address(o, scaled, scales);
}

}  // namespace tw
