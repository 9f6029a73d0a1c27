// SPDX-License-Identifier: Apache-2.0
// bind.cpp  The form as run, and copies of operands that TMA cannot address.
#include "family/bind.hpp"

#include <algorithm>

#include "family/as_run.hpp"
#include "family/normal_form.hpp"
#include "family/ordered_rows.hpp"
#include "family/overlap.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/device/cache_line.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

padded padded_copy(matrix_desc const& m, extents e, std::int64_t batch) {
  int const bits = size_bits(m.type);
  std::int64_t const lines = round_up(e.inner, l2_line_bytes * 8 / bits);
  std::int64_t const pitch = lines - e.inner <= e.inner / 20
                                 ? lines
                                 : round_up(e.inner, traits_of(m.type).in_bytes(tma_chunk_bytes));
  bool const one = batch == 1 || m.batch_stride_elems == 0;
  std::int64_t const matrices = one ? 1 : batch;
  return {pitch, one ? 0 : pitch * e.outer, matrices, matrices * pitch * e.outer * bits / 8};
}

matrix_desc staged_d(gemm_problem const& p) {
  std::int64_t const pitch = round_up(result_cols(p.epilogue, p.n), traits_of(elem::f32).chunk());
  return {elem::f32, order::row_major, pitch, p.batch == 1 ? 0 : p.m * pitch};
}

launch_form form_of(gemm_plan const& plan, gemm_operands const& from_caller, void const* zeros) {
  check_operands(plan.problem, from_caller);
  check_workspace(plan, from_caller);
  check_apart(plan.problem, from_caller);
  launch_form f{plan.normal, in_order(from_caller, operands_as_run(plan.problem, plan.swapped)),
                {},          {},
                {},          {}};
  if (plan.problem.k == 0) f.operands.a = f.operands.b = zeros;
  if (!copies_operands(plan) && !plan.stage_d) return f;
  workspace_layout const where = workspace_of(plan);
  if (plan.stage_d) f.operands.d = static_cast<std::byte*>(f.operands.workspace) + where.staged_d;
  auto const count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  auto const at = [&](std::int64_t offset) {
    return static_cast<std::byte*>(f.operands.workspace) + offset;
  };
  auto const copy = [&](repitch_of& c, role x, void* to) {
    matrix_desc& m = *matrix_of(f.problem, x);
    void const* const* const array = address_array(f.operands, x);
    extents const e = extents_of(f.problem, x);
    padded const target = padded_copy(m, e, f.problem.batch);
    c = {address(f.operands, x),
         m.has_pointers() ? array : nullptr,
         to,
         m.pitch_elems,
         m.batch_stride_elems,
         count(e.inner),
         count(e.outer),
         count(target.matrices),
         count(target.pitch_elems / 8)};
    m.pitch_elems = target.pitch_elems;
    m.batch_stride_elems = target.batch_stride_elems;
  };
  auto const rearrange = [&](rearrange_of& c, role x, void* to) {
    matrix_desc const &from = *plan.from[x], &m = *matrix_of(f.problem, x);
    void const* const* const array = address_array(f.operands, x);
    extents const e = extents_of(f.problem, x);
    int const in_byte = 8 / std::min(8, size_bits(m.type));  // e2m1 by bytes, of two elements
    c = {address(f.operands, x),
         from.has_pointers() ? array : nullptr,
         to,
         from.pitch_elems / in_byte,
         from.batch_stride_elems / in_byte,
         m.pitch_elems / in_byte,
         count(e.inner / in_byte),
         count(e.outer),
         count(padded_copy(m, e, f.problem.batch).matrices),
         std::max(1, size_bytes(m.type)),
         from.ord != m.ord};
  };
  auto const copy_scales = [&](factors_of& c, role x, void* to) {
    scale_desc const &from = *plan.scales_from[x], &s = *scale(f.problem, x);
    std::int64_t const matrices = s.batch_stride == 0 ? 1 : f.problem.batch;
    c = {address(f.operands, scales_of(x)),
         to,
         from.tiled,
         from.stride_outer,
         from.stride_k,
         from.batch_stride,
         count(scale_rows(f.problem, x)),
         count(scale_blocks(from.block_k, f.problem.k)),
         count(matrices),
         0,
         0,
         0};
    if (x == role::a || f.problem.epilogue.gate == gating::none) return;
    gate_columns const gate = gate_columns_of(f.problem);
    c.half = count(f.problem.n / 2);
    c.gate_step = static_cast<std::uint32_t>(gate.step);
    c.up_offset = static_cast<std::uint32_t>(gate.up_offset);
  };
  for (role const x : a_and_b) {
    auto const i = static_cast<std::size_t>(x);
    void* const to = at(where.copies[x]);
    if (plan.from[x])
      rearrange(f.rearranged.operand[i], x, to);
    else if (plan.repitch[x])
      copy(f.copies.operand[i], x, to);
    else
      continue;
    set_address(f.operands, x, to);
  }
  for (role const x : a_and_b) {
    if (!plan.scales_from[x]) continue;
    void* const to = at(where.scales[x]);
    copy_scales(f.factors.operand[static_cast<std::size_t>(x)], x, to);
    set_address(f.operands, scales_of(x), to);
  }
  if (plan.ordered) bind_ordered_rows(plan, f, at(where.ordered), at(where.ordered_scales));
  return f;
}

gate_columns gate_columns_of(gemm_problem const& q) {
  if (q.epilogue.gate == gating::interleaved) return {2, 1};
  return {1, static_cast<int>((gates_rows(q) ? q.m : q.n) / 2)};
}

std::int64_t scale_rows(gemm_problem const& q, role x) {
  if (x == role::a) return q.m;
  return q.epilogue.gate == gating::none ? q.n : 2 * round_up(q.n / 2, scale_tile_rows);
}

group_sizes sizes_of_groups(gemm_problem const& q, gemm_operands const& o) {
  group_desc const& g = *q.groups;
  return {o.groups,
          o.group_status,
          static_cast<int>(g.count),
          g.form,
          g.index_bits == 64,
          static_cast<int>(ragged_extent(q)),
          static_cast<int>(step_of_numbers(q))};
}

bool copies_operands(gemm_plan const& plan) {
  return plan.ordered || std::ranges::any_of(a_and_b, [&](role x) {
           return plan.repitch[x] || plan.scales_from[x];
         });
}

double copied_bytes(gemm_plan const& plan) {
  gemm_problem const& q = plan.normal;
  double bytes = 0;
  for (role const x : a_and_b) {
    if (plan.repitch[x])
      bytes += static_cast<double>(padded_copy(*matrix_of(q, x), extents_of(q, x), q.batch).bytes);
    if (plan.scales_from[x])
      bytes += static_cast<double>(scale_extent(*scale(q, x), scale_rows(q, x), q.k));
  }
  ordered_bytes const ordered = ordered_bytes_of(plan);
  return bytes + static_cast<double>(ordered.rows + ordered.scales);
}

bool may_load_a_as_stored(gemm_problem const& q, gemm_operands const& o) {
  return !is_block_scaled(q) && traits_of(multiplied_type(q.a.type)).k_major_only &&
         q.a.ord == order::col_major && tma_addressable(q.a, q.k, q.a_matrices(), o.a);
}

void choose_copies(gemm_plan& plan, gemm_operands const& o, bool a_as_stored) {
  gemm_problem& q = plan.normal;
  auto const choose = [&](role x) {
    if (weights(q, x)) return;
    matrix_desc& m = *matrix_of(q, x);
    order const k_major = x == role::a ? order::row_major : order::col_major;
    std::int64_t const lines = outer_extent(q, x);
    bool& copied = plan.repitch[x];
    elem const type = multiplied_type(m.type);
    std::int64_t const outer = m.ord == k_major ? lines : q.k;
    // Rows in order lie in the workspace.
    void const* const base = plan.ordered && plan.ordered->of == x ? nullptr : address(o, x);
    copied = !tma_addressable(m, outer, matrix_count(q, x), base);
    if (size_bytes(type) == 2) return;
    copied = copied || (traits_of(type).k_major_only && m.ord != k_major);
    if (!copied) return;
    plan.from[x] = m;
    m.ord = k_major;
    padded const copy = padded_copy(m, {q.k, lines}, matrix_count(q, x));
    m.pitch_elems = copy.pitch_elems, m.batch_stride_elems = copy.batch_stride_elems;
  };
  if (!a_as_stored) choose(role::a);
  choose(role::b);
  if (!is_block_scaled(q)) return;
  // TMA reads tiles of the order 32x4x4 that follow each other along K.
  for (role const x : a_and_b) {
    scale_desc& s = *scale(q, x);
    std::int64_t const rows = scale_rows(q, x), outer = outer_extent(q, x);
    // Tiles of B have the scales of gates, or of what they multiply.
    bool const in_place = x == role::a || (q.epilogue.gate != gating::interleaved && rows == outer);
    void const* const base = address(o, scales_of(x));
    bool const at_16 = reinterpret_cast<std::uintptr_t>(base) % tma_chunk_bytes == 0 &&
                       s.stride_outer % tma_chunk_bytes == 0 &&
                       s.batch_stride % tma_chunk_bytes == 0;
    bool const row_of_tiles =
        s.stride_k == scale_tile_bytes || q.k <= scale_tile_blocks * s.block_k;
    bool const apart = s.stride_outer > 0 || rows <= scale_tile_rows;
    if (s.tiled && in_place && at_16 && row_of_tiles && apart) continue;
    scale_desc const from = s;
    plan.scales_from[x] = from;
    s = make_block_scale({x == role::b, rows, q.k, q.batch}, format_of(q));
    if (from.batch_stride == 0) s.batch_stride = 0;
  }
}

extents extents_of_a(gemm_problem const& q) {
  return major_of_a(q.a) == operand_major::k ? extents{q.k, q.m} : extents{q.m, q.k};
}
extents extents_of_b(gemm_problem const& q) {
  return major_of_b(q.b) == operand_major::k ? extents{q.k, q.n} : extents{q.n, q.k};
}

extents extents_of(gemm_problem const& q, role x) {
  return x == role::a ? extents_of_a(q) : extents_of_b(q);
}

c_view view_of_c(gemm_problem const& q, gemm_operands const& o) {
  if (!q.c || q.beta == 0.0F) return {nullptr, 0, 0, 0, elem::f32, nullptr};
  bool const row_major = q.c->ord == order::row_major;
  bool const pointers = q.c->has_pointers();
  return {pointers ? o.c_array : o.c,
          row_major ? q.c->pitch_elems : 1,
          row_major ? 1 : q.c->pitch_elems,
          q.c->batch_stride_elems,
          q.c->type,
          pointers ? o.c_array : nullptr};
}

fused_params fused_of(gemm_problem const& q, gemm_operands const& o, bool swapped) {
  gemm_epilogue const& e = q.epilogue;
  fused_params f{};
  f.bias = e.bias ? o.bias : nullptr;
  f.bias_type = e.bias.type;
  f.bias_rows = e.bias == along::rows;
  f.row_scale = e.row_scale ? static_cast<float const*>(o.row_scale) : nullptr;
  f.col_scale = e.col_scale ? static_cast<float const*>(o.col_scale) : nullptr;
  f.row_scale_step = e.row_scale.one ? 0 : 1;
  f.col_scale_step = e.col_scale.one ? 0 : 1;
  f.col_scale_first = swapped;
  f.c_last = e.c_last;
  f.act = e.act;
  gate_columns const gate = gate_columns_of(q);
  f.gate_step = gate.step;
  f.up_offset = gate.up_offset;
  return f;
}

}  // namespace tw
