// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Extents and strides of each operand.
#include "tilewright/problem/operand.hpp"

#include <algorithm>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {

namespace {

operand_desc matrix(role r, matrix_desc const& m, std::int64_t rows, std::int64_t cols,
                    std::int64_t batch, bool written = false) {
  bool const row_major = m.ord == order::row_major;
  operand_desc x{r, m.type, written, m.has_pointers(), row_major ? cols : rows};
  x.step[0] = {m.pitch_elems, row_major ? rows : cols};
  if (!x.by_pointers) x.step[1] = {m.batch_stride_elems, batch};
  return x;
}

operand_desc vector(role r, elem type, std::int64_t count) {
  return {r, type, false, false, count};
}

operand_desc scales(role r, scale_desc const& s, std::int64_t outer, std::int64_t k,
                    std::int64_t batch, bool written = false) {
  operand_desc x{r, s.type, written, false, scale_extent(s, outer, k)};
  x.step[1] = {s.batch_stride, batch};
  return x;
}

operand_desc scales_of_d(gemm_problem const& p) {
  output_scales const& s = *p.scale_d;
  if (s.given) return vector(role::scale_d, elem::f32, 1);
  if (!is_block_result(p))
    return scales(role::scale_d, s.desc, p.m, result_cols(p.epilogue, p.n), p.batch, true);
  // Factors, and of NVFP4 the float32 second levels after them.
  elem const type = s.desc.second_level ? elem::f32 : s.desc.type;
  return {role::scale_d, type, true, false, block_result_bytes(p) / size_bytes(type)};
}

}  // namespace

std::int64_t operand_desc::bytes() const {
  if (run_elems == 0 || step[0].count == 0 || step[1].count == 0) return 0;
  std::int64_t const elems = run_elems + step[0].stride_elems * (step[0].count - 1) +
                             step[1].stride_elems * (step[1].count - 1);
  return (elems * size_bits(type) + 7) / 8;
}

namespace {

/// Rows, or columns, of D in memory.
std::int64_t result_extent(gemm_problem const& p, role x) {
  return x == role::a ? p.d_rows() : p.d_cols();
}

/// The operand of a row; of role::none if the problem does not have it.
template <int I>
operand_desc operand_at(gemm_problem const& p, std::int64_t d_cols) {
  constexpr operand_row const& r = operand_rows[I];
  constexpr bool of_product = r.over == operand_axes::mk || r.over == operand_axes::kn;
  operand_desc const none;
  if (of_product && p.k == 0) return none;
  if constexpr (r.kind == operand_kind::matrix) {
    matrix_desc const* const m = matrix_of(p, r.is);
    if (m == nullptr) return none;
    std::int64_t const rows = r.over == operand_axes::kn   ? p.k
                              : r.over == operand_axes::mk ? p.a_rows()
                                                           : p.d_rows();
    std::int64_t const cols = r.over == operand_axes::mk   ? p.k
                              : r.over == operand_axes::kn ? p.b_cols()
                              : r.over == operand_axes::d  ? d_cols
                                                           : p.n;
    std::int64_t const matrices = r.is == role::aux ? p.batch : matrix_count(p, r.is);
    if (of_product && weights(p, r.is)) {
      weights_desc const w{outer_extent(p, r.is), p.k, m->batch_stride_elems == 0 ? 1 : matrices,
                           weights(p, r.is)};
      return {r.is, elem::u8, false, false, w.bytes()};
    }
    return matrix(r.is, *m, rows, cols, matrices, r.result != nullptr);
  } else if constexpr (r.kind == operand_kind::vector) {
    vector_desc const& v = p.epilogue.*r.vector;
    if (!v) return none;
    role const x = v.over == along::rows ? role::a : role::b;
    std::int64_t const groups = of_each_group(p, x) ? p.groups->count : 1;
    // Scales are of the rows of A; weights of the rows of D.
    std::int64_t const lines = r.is == epilogue_scale_of(x) ? stored_extent(p, x)
                               : r.of_groups                ? result_extent(p, x)
                                                            : outer_extent(p, x);
    return vector(r.is, v.type, v.one ? 1 : lines * groups);
  } else if constexpr (r.kind == operand_kind::scales) {
    std::optional<scale_desc> const& s = p.*r.scales;
    std::int64_t const each = of_each_group(p, r.of) ? p.groups->count : matrix_count(p, r.of);
    return s ? scales(r.is, *s, stored_extent(p, r.of), scaled_k(p), each) : none;
  } else if constexpr (r.kind == operand_kind::second_level) {
    std::optional<scale_desc> const& s = scale(p, r.of);
    return s && s->second_level ? vector(r.is, elem::f32, 1) : none;
  } else if constexpr (r.kind == operand_kind::result_scales) {
    return p.scale_d ? scales_of_d(p) : none;
  } else if constexpr (r.kind == operand_kind::group_values) {
    if (!p.groups) return none;
    if (r.is == role::group_alpha)
      return p.groups->alpha ? vector(r.is, elem::f32, p.groups->count) : none;
    bool const there = (r.is == role::gather ? p.groups->gather_from : p.groups->scatter_to) > 0;
    return there ? vector(r.is, elem::s32, ragged_extent(p)) : none;
  } else {
    if (!p.groups) return none;
    constexpr int bits = size_bits(elem::s32);
    return vector(r.is, elem::s32,
                  p.groups->numbers(ragged_extent(p)) * p.groups->index_bits / bits);
  }
}

}  // namespace

operand_list operands_of(gemm_problem const& p) {
  operand_list all;
  std::int64_t const d_cols = result_cols(p.epilogue, p.d_cols());
  auto const add = [&](operand_desc const& x) {
    if (x.is != role::none) all.list[static_cast<std::size_t>(all.count++)] = x;
  };
  [&]<int... I>(std::integer_sequence<int, I...>) { (add(operand_at<I>(p, d_cols)), ...); }
  (std::make_integer_sequence<int, role_count>());
  return all;
}

gemm_operands in_order(gemm_operands const& given, operand_order const& order) {
  gemm_operands o = given;
  for (operand_row const& r : operand_rows) {
    role const from = order[static_cast<std::size_t>(r.is)];
    if (from == r.is) continue;
    set_address(o, r.is, from == role::none ? nullptr : address(given, from));
    if (r.array != nullptr) o.*r.array = from == role::none ? nullptr : address_array(given, from);
  }
  return o;
}

}  // namespace tw
