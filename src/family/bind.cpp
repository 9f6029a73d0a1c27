// SPDX-License-Identifier: Apache-2.0
// bind.cpp  The form as run, and copies of operands that TMA cannot address.
#include "family/bind.hpp"

#include <algorithm>

#include "family/as_run.hpp"
#include "family/normal_form.hpp"
#include "family/overlap.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/device/cache_line.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
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
  launch_form f{
      plan.normal, in_order(from_caller, operands_as_run(plan.problem, plan.swapped)), {}, {}, {}};
  if (plan.problem.k == 0) f.operands.a = f.operands.b = zeros;
  bool const scales = plan.from_scale_a || plan.from_scale_b;
  if (!plan.repitch_a && !plan.repitch_b && !plan.stage_d && !scales) return f;
  workspace_layout const where = workspace_of(plan);
  if (plan.stage_d) f.operands.d = static_cast<std::byte*>(f.operands.workspace) + where.staged_d;
  auto const copy = [&](repitch_of& c, matrix_desc& m, extents e, void const*& base,
                        void const* const* array, std::int64_t offset) {
    padded const target = padded_copy(m, e, f.problem.batch);
    void* const to = static_cast<std::byte*>(f.operands.workspace) + offset;
    auto const count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    c = {base,
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
    base = to;
  };
  auto const rearrange = [&](rearrange_of& c, matrix_desc const& from, matrix_desc const& m,
                             extents e, void const*& base, void const* const* array,
                             std::int64_t offset) {
    void* const to = static_cast<std::byte*>(f.operands.workspace) + offset;
    auto const count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    int const in_byte = 8 / std::min(8, size_bits(m.type));  // e2m1 by bytes, of two elements
    c = {base,
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
    base = to;
  };
  auto const copy_scales = [&](factors_of& c, scale_desc const& from, scale_desc const& s,
                               std::int64_t outer, void const*& base, std::int64_t offset) {
    void* const to = static_cast<std::byte*>(f.operands.workspace) + offset;
    std::int64_t const matrices = s.batch_stride == 0 ? 1 : f.problem.batch;
    c = {base,
         to,
         from.tiled,
         from.stride_outer,
         from.stride_k,
         from.batch_stride,
         static_cast<std::uint32_t>(outer),
         static_cast<std::uint32_t>(scale_blocks(from.block_k, f.problem.k)),
         static_cast<std::uint32_t>(matrices),
         0,
         0,
         0};
    base = to;
  };
  gemm_operands& o = f.operands;
  extents const a = extents_of_a(f.problem), b = extents_of_b(f.problem);
  if (plan.from_a)
    rearrange(f.rearranged.operand[0], *plan.from_a, f.problem.a, a, o.a, o.a_array, where.copy_a);
  else if (plan.repitch_a)
    copy(f.copies.operand[0], f.problem.a, a, o.a, o.a_array, where.copy_a);
  if (plan.from_b)
    rearrange(f.rearranged.operand[1], *plan.from_b, f.problem.b, b, o.b, o.b_array, where.copy_b);
  else if (plan.repitch_b)
    copy(f.copies.operand[1], f.problem.b, b, o.b, o.b_array, where.copy_b);
  if (plan.from_scale_a)
    copy_scales(f.factors.operand[0], *plan.from_scale_a, *f.problem.scale_a, f.problem.m,
                o.scale_a, where.scale_a);
  if (plan.from_scale_b) {
    factors_of& c = f.factors.operand[1];
    copy_scales(c, *plan.from_scale_b, *f.problem.scale_b, scale_rows_of_b(f.problem), o.scale_b,
                where.scale_b);
    if (f.problem.epilogue.gate != gating::none) {
      gate_columns const gate = gate_columns_of(f.problem);
      c.half = static_cast<std::uint32_t>(f.problem.n / 2);
      c.gate_step = static_cast<std::uint32_t>(gate.step);
      c.up_offset = static_cast<std::uint32_t>(gate.up_offset);
    }
  }
  return f;
}

gate_columns gate_columns_of(gemm_problem const& q) {
  if (q.epilogue.gate == gating::interleaved) return {2, 1};
  return {1, static_cast<int>(q.n / 2)};
}

std::int64_t scale_rows_of_b(gemm_problem const& q) {
  return q.epilogue.gate == gating::none ? q.n : 2 * round_up(q.n / 2, scale_tile_rows);
}

bool may_load_a_as_stored(gemm_problem const& q, gemm_operands const& o) {
  return !is_block_scaled(q) && traits_of(multiplied_type(q.a.type)).k_major_only &&
         q.a.ord == order::col_major && tma_addressable(q.a, q.k, q.a_matrices(), o.a);
}

void choose_copies(gemm_plan& plan, gemm_operands const& o, bool a_as_stored) {
  gemm_problem& q = plan.normal;
  auto const choose = [&](matrix_desc& m, std::int64_t matrices, order k_major, std::int64_t lines,
                          void const* base, bool& copied, std::optional<matrix_desc>& from) {
    elem const type = multiplied_type(m.type);
    std::int64_t const outer = m.ord == k_major ? lines : q.k;
    copied = !tma_addressable(m, outer, matrices, base);
    if (size_bytes(type) == 2) return;
    copied = copied || (traits_of(type).k_major_only && m.ord != k_major);
    if (!copied) return;
    from = m;
    m.ord = k_major;
    padded const copy = padded_copy(m, {q.k, lines}, matrices);
    m.pitch_elems = copy.pitch_elems, m.batch_stride_elems = copy.batch_stride_elems;
  };
  if (!a_as_stored)
    choose(q.a, q.a_matrices(), order::row_major, q.m, o.a, plan.repitch_a, plan.from_a);
  choose(q.b, q.b_matrices(), order::col_major, q.n, o.b, plan.repitch_b, plan.from_b);
  if (!is_block_scaled(q)) return;
  // TMA reads tiles of the order 32x4x4 that follow each other along K.
  auto const choose_scales = [&](scale_desc& s, scaled_operand const& x, void const* base,
                                 bool in_place, std::optional<scale_desc>& from) {
    bool const at_16 = reinterpret_cast<std::uintptr_t>(base) % tma_chunk_bytes == 0 &&
                       s.stride_outer % tma_chunk_bytes == 0 &&
                       s.batch_stride % tma_chunk_bytes == 0;
    bool const row_of_tiles =
        s.stride_k == scale_tile_bytes || x.k <= scale_tile_blocks * s.block_k;
    bool const apart = s.stride_outer > 0 || x.outer <= scale_tile_rows;
    if (s.tiled && in_place && at_16 && row_of_tiles && apart) return;
    from = s;
    s = make_block_scale(x, format_of(q));
    if (from->batch_stride == 0) s.batch_stride = 0;
  };
  choose_scales(*q.scale_a, {false, q.m, q.k, q.batch}, o.scale_a, true, plan.from_scale_a);
  // Tiles have the scales of gates, or of what they multiply.
  std::int64_t const b_rows = scale_rows_of_b(q);
  bool const in_place = q.epilogue.gate != gating::interleaved && b_rows == q.n;
  choose_scales(*q.scale_b, {true, b_rows, q.k, q.batch}, o.scale_b, in_place, plan.from_scale_b);
}

extents extents_of_a(gemm_problem const& q) {
  return major_of_a(q.a) == operand_major::k ? extents{q.k, q.m} : extents{q.m, q.k};
}
extents extents_of_b(gemm_problem const& q) {
  return major_of_b(q.b) == operand_major::k ? extents{q.k, q.n} : extents{q.n, q.k};
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

fused_params fused_of(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o) {
  gemm_epilogue const& e = q.epilogue;
  fused_params f{};
  f.bias = e.bias == along::none ? nullptr : o.bias;
  f.bias_type = e.bias_type;
  f.bias_rows = e.bias == along::rows;
  f.row_scale = e.row_scale ? o.row_scale : nullptr;
  f.col_scale = e.col_scale ? o.col_scale : nullptr;
  f.row_scale_step = e.one_row_scale ? 0 : 1;
  f.col_scale_step = e.one_col_scale ? 0 : 1;
  f.col_scale_first = plan.swapped;
  f.c_last = e.c_last;
  f.act = e.act;
  gate_columns const gate = gate_columns_of(q);
  f.gate_step = gate.step;
  f.up_offset = gate.up_offset;
  return f;
}

}  // namespace tw
