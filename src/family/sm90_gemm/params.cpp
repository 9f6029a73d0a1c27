// SPDX-License-Identifier: Apache-2.0
// params.cpp  Tensor maps, tile order and scalars of a launch.
#include "family/sm90_gemm/params.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "family/no_inner.hpp"
#include "family/normal_form.hpp"
#include "family/operand_maps.hpp"
#include "family/operand_scales.hpp"
#include "family/result_scale.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/loads_c.hpp"
#include "family/sm90_gemm/raster.hpp"
#include "family/sm90_gemm/schedules.hpp"
#include "family/workspace.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm90/epilogue/d_box.hpp"
#include "tilewright/kernel/sm90/fixup_size.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {

namespace {

/// A map of B with a gate: (k, columns of a group, gate or up, groups, batch). In shared memory
/// groups of gate columns and of up columns take turns, so that a thread's accumulators hold both.
tensor_map gated_map(void const* base, gemm_problem const& q, int columns, target t) {
  std::int64_t pitch = q.b.pitch_elems * size_bytes(q.b.type);
  gate_columns const gate = gate_columns_of(q);
  tensor_map_desc d;
  d.base = const_cast<void*>(base);
  d.type = as_mapped(q.b).type;
  d.rank = 5;
  bool const many = matrices_of(q.b, q.b_matrices()) > 1;
  constexpr int group = gemm_config::gate_group, pair = 2 * group;
  if (is_shared_line(q.b)) pitch = tma_chunk_bytes;
  std::int64_t dims[] = {q.k, group, 2, q.n / pair, many ? q.b_matrices() : 1};
  if (is_shared_line(q.b)) std::fill_n(dims + 1, 4, 1);
  std::int64_t const strides[] = {
      gate.step * pitch, gate.up_offset * pitch, group * gate.step * pitch,
      many ? q.b.batch_stride_elems * size_bytes(q.b.type) : pair * pitch};
  std::int32_t const box[] = {traits_of(q.b.type).span(), group, 2, columns / pair, 1};
  std::copy_n(dims, 5, d.dim);
  std::copy_n(strides, 4, d.stride_bytes);
  std::copy_n(box, 5, d.box);
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, t);
}

/// Scales of D. A problem without has none.
result_scales scales_of_result(gemm_config const& c, gemm_problem const& q,
                               gemm_operands const& o) {
  result_scales s = scales_of_rows(q, o);
  if (c.finds_amax_along_m())
    std::swap(s.stride_row, s.stride_block);  // of columns, then of blocks
  return s;
}

/// The kernel stores the auxiliary output by TMA, in the boxes of D, unless TMA cannot address it
/// or gates and what they multiply are interleaved in it.
void put_aux(fused_params& f, gemm_config const& c, gemm_problem const& q, void* base, target t) {
  matrix_desc const& m = *q.aux;
  f.aux = base;
  f.aux_pitch = m.pitch_elems;
  f.aux_batch_stride = m.batch_stride_elems;
  std::int64_t const chunk = tma_chunk_bytes / size_bytes(m.type);
  bool const addressable = reinterpret_cast<std::uintptr_t>(base) % tma_chunk_bytes == 0 &&
                           m.pitch_elems % chunk == 0 &&
                           (q.batch == 1 || m.batch_stride_elems % chunk == 0);
  if (!addressable || q.epilogue.gate == gating::interleaved) return;
  d_box const box = d_box_of(c);
  extents const e = c.d_m ? extents{q.m, q.n} : extents{q.n, q.m};
  operand_box const shape =
      c.d_m ? operand_box{box.rows, box.cols} : operand_box{box.cols, box.rows};
  f.aux_map = map_of(base, m, q.batch, e, shape, box.swizzle, t, false);
  f.aux_tma_end = tma_end_of(e.inner, m.type, c.d_m ? wgmma_m : box.cols);
}

/// The matrix whose map ends with a group (docs/decisions/0054): `lines` rows of D, or columns
/// of an M-major D, of which the last one lies before D; a "matrix" is one line further.
struct ending_lines {
  matrix_desc desc;
  std::int64_t matrices;     // one for each line before which a group may end
  std::int64_t shift_bytes;  // from D to the first line
};
/// Elements between neighbouring indices of D that groups divide. If groups divide lines, a
/// "matrix" is an element further, and D goes by plain stores.
std::int64_t step_of_groups(gemm_problem const& q) { return divide_lines(q) ? 1 : q.d.pitch_elems; }
ending_lines ending_lines_of(gemm_problem const& q) {
  group_desc const& g = *q.groups;
  std::int64_t const lines = g.axis == group_axis::m ? q.m : q.n, step = step_of_groups(q);
  matrix_desc m = q.d;
  std::int64_t const slots = g.slots() ? (g.count - 1) * (m.batch_stride_elems / step) : 0;
  m.batch_stride_elems = step;
  return {m, slots + lines + 1, -lines * step * size_bytes(m.type)};
}
void* moved(void const* base, std::int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(bytes));
}

group_operands operands_of_groups(gemm_problem const& q, gemm_operands const& o) {
  auto const floats = [](bool there, void const* at) {
    return there ? static_cast<float const*>(at) : nullptr;
  };
  group_desc const& g = *q.groups;
  auto const indices = [](std::int64_t rows, void const* at) {
    return rows > 0 ? static_cast<std::int32_t const*>(at) : nullptr;
  };
  return {floats(bool{q.epilogue.row_weight}, o.row_weight),
          floats(g.alpha, o.group_alpha),
          indices(g.gather_from, o.gather),
          indices(g.scatter_to, o.scatter),
          divisor(static_cast<int>(g.choices)),
          static_cast<int>(g.gather_from),
          static_cast<int>(g.scatter_to),
          o.group_status};
}

/// The groups of a launch; p.walk and p.tile_cols are set.
group_params groups_of(gemm_params const& p, gemm_config const& c, plan_schedule const& s,
                       gemm_problem const& q, gemm_operands const& o) {
  group_desc const& g = *q.groups;
  group_params r{};
  r.sizes = sizes_of_groups(q, o);
  r.across = g.axis == group_axis::m ? p.walk.order.n_tiles : p.walk.order.m_tiles;
  r.band = s.band;
  r.scale_blocks = static_cast<int>(scaled_k(q) / scale_block_k);
  r.slot_rows = g.slots() ? static_cast<int>(q.d.batch_stride_elems / step_of_groups(q)) : 0;
  auto const step = [](matrix_desc const& m, operand_major major) -> std::int64_t {
    return is_shared_line(m) ? 0 : major == operand_major::k ? size_bytes(m.type) : m.pitch_bytes();
  };
  r.a_data = o.a, r.b_data = o.b;
  r.a_step = step(q.a, c.a.major), r.b_step = step(q.b, c.b.major);
  r.a_pitch = q.a.pitch_bytes(), r.b_pitch = q.b.pitch_bytes();
  r.gathered_bytes = q.k * size_bytes(q.a.type);
  return r;
}

/// An operand whose K groups divide: its maps are in all memory, and end where a group does.
matrix_desc with_groups(gemm_problem const& q, matrix_desc m) {
  m = as_mapped(m);
  if (q.groups && q.groups->axis == group_axis::k) m.batch_stride_elems = matrix_desc::by_pointers;
  return m;
}

}  // namespace

gemm_params make_params(gemm_plan const& plan, gemm_problem const& q, gemm_operands const& o,
                        target t) {
  gemm_config const& c = config_of(plan);
  plan_schedule const& s = plan.schedule;
  check_schedule(plan, q);
  gemm_params p{};
  int const a_share = c.tile_m / c.cluster_n, b_share = launched(plan).tile_n / c.cluster_m;
  bool const placed = q.a.has_pointers() || q.b.has_pointers();
  std::int64_t const a_matrices = matrices_of(q.a, q.a_matrices());
  std::int64_t const b_matrices = matrices_of(q.b, q.b_matrices());
  p.a_batched = a_matrices > 1 ? 1 : 0;
  p.b_batched = b_matrices > 1 ? 1 : 0;
  l2_hints const& hints = s.l2;
  p.a_l2 = hints.a;
  p.b_l2 = hints.b;
  p.epilogue.d_evict_first = hints.d_evict_first ? 1 : 0;
  auto const map_a = [&](int rows) {
    return map_of(o.a, with_groups(q, q.a), a_matrices, extents_of_a(q),
                  box_of(c.a.stored, c.a.major, c.a_swizzle(), rows), c.a_swizzle(), t, placed,
                  hints.a_by_128_bytes);
  };
  auto const map_b = [&](int columns) {
    return c.gates_cols() ? gated_map(o.b, q, columns, t)
                          : map_of(o.b, with_groups(q, q.b), b_matrices, extents_of_b(q),
                                   box_of(c.b.stored, c.b.major, c.b_swizzle(), columns),
                                   c.b_swizzle(), t, placed);
  };
  p.m = static_cast<int>(q.m);
  p.n = static_cast<int>(q.n);
  if (!c.weights()) p.a = map_a(a_share);
  p.b = map_b(b_share);
  // The in-bounds part of the last tile of a K-major operand: a box must not exceed it
  // (docs/decisions/0021). MN-major operands come in boxes of 64 anyway.
  int const a_left = p.m % a_share, b_left = p.n % b_share;
  p.a_edge = a_left == 0 || c.a.is_mn_major() || c.weights() ? p.a : map_a(a_left);
  p.b_edge = b_left == 0 || c.b.is_mn_major() ? p.b : map_b(b_left);
  p.a_scales = scales_of(q, o, role::a);
  p.b_scales = scales_of(q, o, role::b);
  // Groups begin at rows whose scales lie at any multiple of 4 bytes.
  p.a_scales_by_bulk = c.bulk_copies_scales() && !c.grouped() && can_bulk_copy(p.a_scales, q.m) &&
                       p.b_scales.data != nullptr && p.b_scales.ue8m0 == 0;
  p.tile_cols = s.tile_cols;
  p.by_pointers = placed ? 1 : 0;
  p.a_matrices = q.a.has_pointers() ? o.a_array : nullptr;
  p.b_matrices = q.b.has_pointers() ? o.b_array : nullptr;
  std::int64_t const d_rows = result_rows(q), d_cols = result_cols(q);

  bool const ends = c.ragged == group_axis::m || c.ragged == group_axis::n;
  ending_lines const d_lines =
      ends ? ending_lines_of(q) : ending_lines{q.d, matrices_of(q.d, q.d_matrices()), 0};
  bool const scatters = q.groups && q.groups->scatter_to > 0;
  void* const d_data = scatters ? o.d : moved(o.d, d_lines.shift_bytes);
  epilogue_params& e = p.epilogue;
  e.data = d_data;
  e.pitch = q.d.pitch_elems;
  e.batch_stride = d_lines.desc.batch_stride_elems;
  e.matrices = q.d.has_pointers() ? o.d_array : nullptr;
  e.tma_end = 0;
  if (!plan.direct_d) {
    d_box const box = d_box_of(c);
    extents const d = c.d_m ? extents{d_rows, d_cols} : extents{d_cols, d_rows};
    auto const map_d = [&](int cols) {
      operand_box const shape = c.d_m ? operand_box{box.rows, cols} : operand_box{cols, box.rows};
      return map_of(d_data, d_lines.desc, d_lines.matrices, d, shape, box.swizzle, t,
                    c.by_pointers());
    };
    e.d = map_d(box.cols);
    int const part = c.varies_tile_n() ? s.tile_cols % box.cols : 0;
    if (part > 0) e.d_part = map_d(part);
    e.tma_end = tma_end_of(d.inner, q.d.type, c.d_m ? box.fragment_rows : box.cols);
  }
  e.tile_cols = s.tile_cols;
  e.m = static_cast<int>(d_rows);
  e.n = static_cast<int>(d_cols);
  e.alpha = q.alpha;
  e.beta = q.beta;
  e.c = view_of_c(q, o);
  if (ends && e.c.data != nullptr) {
    bool const of_rows = c.ragged == group_axis::m;
    std::int64_t const step = of_rows ? e.c.row_stride : e.c.col_stride;
    e.c.batch_stride = scatters ? 0 : step;  // index arrays name rows of C
    if (!scatters) e.c.data = moved(e.c.data, -(of_rows ? q.m : q.n) * step * size_bytes(e.c.type));
  }
  if (!plan.direct_d && loads_c(c, q, s.split_k_tiles > 0) &&
      reinterpret_cast<std::uintptr_t>(e.c.data) % tma_chunk_bytes == 0) {
    d_box const box = d_box_of(c);
    p.c = map_of(e.c.data, *q.c, q.d_matrices(), {d_cols, q.m}, {box.cols, box.rows}, box.swizzle,
                 t, false);
    e.c_by_tma = 1;
  }
  e.fused = fused_of(q, o, plan.swapped);
  e.scales = scales_of_result(c, q, o);
  if (c.grouped()) e.group = operands_of_groups(q, o);
  if (c.aux()) put_aux(e.fused, c, q, o.aux, t);

  p.walk = tile_walk(order_of(plan));
  int const k_tiles = static_cast<int>((q.k + c.tile_k() - 1) / c.tile_k());
  p.work = make_work_plan(p.walk.order.tiles(), k_tiles, s.split_k_tiles, s.split_k_clusters);
  if (c.grouped()) p.group = groups_of(p, c, s, q, o);
  if (c.weights()) {
    weights_desc const w{q.m, q.k, 1, q.weights_a};
    p.weights = {static_cast<std::byte const*>(o.a) + weights_header_bytes,
                 static_cast<int>(w.row_blocks()), static_cast<int>(w.k_blocks())};
  }
  if (s.split_k_tiles > 0) {
    p.fixup.arrivals = static_cast<std::uint32_t*>(o.workspace);
    p.fixup.partials =
        reinterpret_cast<float*>(static_cast<std::byte*>(o.workspace) + gemm_workspace_zeros);
    p.fixup.counters = fixup_counters(p.work.max_parts(), c.tile_n);
  }
  return p;
}

}  // namespace tw
