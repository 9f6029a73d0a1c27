// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Extents and strides of each operand, and its member of gemm_operands.
#include "tilewright/problem/operand.hpp"

#include <algorithm>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"

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

operand_list operands_of(gemm_problem const& p) {
  operand_list all;
  auto const add = [&](operand_desc const& x) {
    all.list[static_cast<std::size_t>(all.count++)] = x;
  };
  gemm_epilogue const& e = p.epilogue;
  std::int64_t const d_cols = result_cols(e, p.n);
  bool const product = p.k != 0;
  std::int64_t const rows = p.m * (p.rows_of_each_group() ? p.groups->count : 1);
  std::int64_t const cols = p.n * (p.cols_of_each_group() ? p.groups->count : 1);
  if (product) add(matrix(role::a, p.a, p.m, p.k, p.a_matrices()));
  if (product) add(matrix(role::b, p.b, p.k, p.n, p.b_matrices()));
  if (p.c) add(matrix(role::c, *p.c, p.m, d_cols, p.d_matrices()));
  add(matrix(role::d, p.d, p.m, d_cols, p.d_matrices(), true));
  if (p.aux) add(matrix(role::aux, *p.aux, p.m, p.n, p.batch, true));
  if (e.bias != along::none)
    add(vector(role::bias, e.bias_type, e.bias == along::rows ? rows : cols));
  if (e.row_scale) add(vector(role::row_scale, elem::f32, e.one_row_scale ? 1 : rows));
  if (e.col_scale) add(vector(role::col_scale, elem::f32, e.one_col_scale ? 1 : cols));
  if (p.scale_a && product) add(scales(role::scale_a, *p.scale_a, p.m, p.k, p.a_matrices()));
  if (p.scale_b && product) add(scales(role::scale_b, *p.scale_b, p.n, p.k, p.b_matrices()));
  if (p.scale_a && product && p.scale_a->second_level) add(vector(role::second_a, elem::f32, 1));
  if (p.scale_b && product && p.scale_b->second_level) add(vector(role::second_b, elem::f32, 1));
  if (p.scale_d) add(scales_of_d(p));
  if (p.groups) {
    constexpr int bits = size_bits(elem::s32);
    add(vector(role::groups, elem::s32, p.groups->numbers() * p.groups->index_bits / bits));
  }
  return all;
}

void const* address(gemm_operands const& o, role r) {
  switch (r) {
    case role::a: return o.a;
    case role::b: return o.b;
    case role::c: return o.c;
    case role::d: return o.d;
    case role::aux: return o.aux;
    case role::bias: return o.bias;
    case role::row_scale: return o.row_scale;
    case role::col_scale: return o.col_scale;
    case role::scale_a: return o.scale_a;
    case role::scale_b: return o.scale_b;
    case role::second_a: return o.second_level_a;
    case role::second_b: return o.second_level_b;
    case role::scale_d: return o.scale_d;
    case role::groups: return o.groups;
    case role::none: break;
  }
  return nullptr;
}

void set_address(gemm_operands& o, role r, void const* at) {
  void* const to = const_cast<void*>(at);
  switch (r) {
    case role::a: o.a = at; break;
    case role::b: o.b = at; break;
    case role::c: o.c = at; break;
    case role::d: o.d = to; break;
    case role::aux: o.aux = to; break;
    case role::bias: o.bias = at; break;
    case role::row_scale: o.row_scale = static_cast<float const*>(at); break;
    case role::col_scale: o.col_scale = static_cast<float const*>(at); break;
    case role::scale_a: o.scale_a = at; break;
    case role::scale_b: o.scale_b = at; break;
    case role::second_a: o.second_level_a = static_cast<float const*>(at); break;
    case role::second_b: o.second_level_b = static_cast<float const*>(at); break;
    case role::scale_d: o.scale_d = to; break;
    case role::groups: o.groups = at; break;
    case role::none: break;
  }
}

void const* address_array(gemm_operands const& o, role r) {
  switch (r) {
    case role::a: return o.a_array;
    case role::b: return o.b_array;
    case role::c: return o.c_array;
    case role::d: return o.d_array;
    default: return nullptr;
  }
}

gemm_operands in_order(gemm_operands const& given, operand_order const& order) {
  gemm_operands o = given;
  for (operand_row const& r : operand_rows) {
    role const from = order[static_cast<std::size_t>(r.is)];
    if (from != r.is) set_address(o, r.is, address(given, from));
  }
  auto const array = [&](role r) {
    return static_cast<void const* const*>(
        address_array(given, order[static_cast<std::size_t>(r)]));
  };
  o.a_array = array(role::a), o.b_array = array(role::b);
  return o;
}

}  // namespace tw
