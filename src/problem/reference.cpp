// SPDX-License-Identifier: Apache-2.0
// reference.cpp  Element access by order and pitch, and the innermost of the three loops.
#include "tilewright/problem/reference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {
namespace {

/// Reads through memcpy: rows of a file need not be aligned to the element.
template <class T>
double element_as_double(void const* base, std::int64_t index) {
  T value;
  std::memcpy(&value, static_cast<char const*>(base) + index * std::int64_t{sizeof(T)}, sizeof(T));
  if constexpr (std::is_integral_v<T>)
    return value;  // exact, of 32 bits too
  else if constexpr (std::is_same_v<T, ue4m3>)
    return to_float(ue4m3{static_cast<std::uint8_t>(value.bits & 0x7FU)});  // as tensor cores do
  else
    return to_float(value);
}

}  // namespace

double load_element(matrix_desc const& m, void const* base, std::int64_t row, std::int64_t col,
                    std::int64_t batch) {
  bool const by_rows = m.ord == order::row_major;
  std::int64_t const i = batch * m.batch_stride_elems +
                         (by_rows ? row * m.pitch_elems + col : col * m.pitch_elems + row);
  if (packs_in_pairs(m.type)) {
    unsigned const two = static_cast<unsigned char const*>(base)[i / 2];
    return to_float(e2m1{static_cast<std::uint8_t>(i % 2 == 0 ? two & 0xFU : two >> 4)});
  }
  return with_elem(m.type, [&](auto t) -> double {
    if constexpr (size_bits(t.value) < 8)
      return NAN;  // packed: no matrix of a gemm_problem has them (TW0404)
    else
      return element_as_double<typename decltype(t)::type>(base, i);
  });
}

double multiplied_value(elem type, double x) {
  if (!is_multiplied_as_tf32(type) || std::isnan(x)) return x;
  constexpr std::uint32_t low_bits = 0x1FFFU;
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (type != multiplied_type(type))  // ties to even, as TMA rounds
    bits += low_bits / 2 + (bits >> 13 & 1U);
  return std::bit_cast<float>(bits & ~low_bits);
}

double load_operand(matrix_desc const& m, void const* base, std::int64_t row, std::int64_t col,
                    std::int64_t batch) {
  return multiplied_value(m.type, load_element(m, base, row, col, batch));
}

product_columns columns_of(gemm_problem const& p, std::int64_t col) {
  switch (p.epilogue.gate) {
    case gating::none: break;
    case gating::interleaved: return {2 * col, 2 * col + 1};
    case gating::split: return {col, p.n / 2 + col};
  }
  return {col, -1};
}

double load_scale(scale_desc const& s, void const* base, std::int64_t outer, std::int64_t k,
                  std::int64_t batch) {
  return load_element({s.type, order::row_major, 0}, base, 0, scale_offset(s, outer, k, batch));
}

double scale_of_block(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                      std::int64_t col, std::int64_t k, std::int64_t batch) {
  auto const of = [&](role x, std::int64_t outer) {
    auto const& s = scale(p, x);
    return s ? static_cast<float>(load_scale(*s, address(o, scales_of(x)), outer, k, batch)) : 1.0F;
  };
  float const a = of(role::a, row), b = of(role::b, col);
  if (!is_block_scaled(p)) return a * b;  // in float32
  return static_cast<double>(a) * static_cast<double>(b);
}

double second_level_of_sums(gemm_problem const& p, gemm_operands const& o) {
  if (!is_block_scaled(p) || !scale(p, role::a)->second_level) return 1;
  float product = 1;  // in float32, as kernels multiply them
  for (role const x : a_and_b)
    product *= *static_cast<float const*>(address(o, second_level_of(x)));
  return product;
}

namespace {

/// The divisor of an element of D, rounded as in the division.
double result_scale(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                    std::int64_t col, std::int64_t batch) {
  double const scale = load_scale(p.scale_d->desc, o.scale_d, row, col, batch);
  if (!is_block_result(p)) return scale;
  return static_cast<float>(scale) * second_level(p, o.scale_d, batch);
}

/// Adds S and T of row times col of A B, with the scales of the main loop, and finds the largest;
/// the second level is not in them.
template <class Sum>
void add_products(gemm_problem const& p, gemm_operands const& o, std::int64_t row, std::int64_t col,
                  std::int64_t batch, Sum& sum) {
  bool const scaled = scales_in_main_loop(p);
  std::int64_t const step = scaled ? main_loop_block_k(p) : p.k;
  for (std::int64_t k0 = 0; k0 < p.k; k0 += step) {
    double block = 0, magnitudes = 0;
    for (std::int64_t k = k0; k < std::min(p.k, k0 + step); ++k) {
      double const a = load_operand(p.a, o.a, row, k, batch);
      double const b = load_operand(p.b, o.b, k, col, batch);
      block += a * b;
      if (std::isfinite(a * b))
        magnitudes += bound_magnitude(p.a.type, a) * bound_magnitude(p.b.type, b);
    }
    double const scale = scaled ? scale_of_block(p, o, row, col, k0, batch) : 1;
    sum.s += scale * block;
    if (!std::isfinite(scale)) continue;
    sum.t += std::fabs(scale) * magnitudes;
    sum.largest_scale = k0 == 0 ? std::fabs(scale) : std::max(sum.largest_scale, std::fabs(scale));
  }
}

}  // namespace

/// The weight of an element's row; of groups of columns of its column.
static double weight_of(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                        std::int64_t col) {
  vector_desc const& v = p.epilogue.row_weight;
  if (!v) return 1;
  return static_cast<float const*>(o.row_weight)[v.one ? 0 : v == along::rows ? row : col];
}

exact_fused reference_vectors(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                              std::int64_t col, std::int64_t batch) {
  bool const in_epilogue = p.k > 0 && !scales_in_main_loop(p);
  auto const linear = [&](std::int64_t j) {
    exact_linear x;
    x.second_level = second_level_of_sums(p, o);
    auto const value = [&](role r, double without) {
      vector_desc const& v = p.epilogue.*row_of(r).vector;
      if (!v) return without;
      std::int64_t const i = v.one ? 0 : v.over == along::rows ? row : j;
      return load_element({v.type, order::row_major, 0}, address(o, r), 0, i);
    };
    auto const scale_in_epilogue = [&](role f, std::int64_t outer) {
      auto const& s = scale(p, f);
      if (in_epilogue && s) return load_scale(*s, address(o, scales_of(f)), outer, 0, batch);
      return value(epilogue_scale_of(f), 1);
    };
    x.row_scale = scale_in_epilogue(role::a, row);
    x.col_scale = scale_in_epilogue(role::b, j);
    x.bias = value(role::bias, 0);
    return x;
  };
  product_columns const j = columns_of(p, col);
  return {linear(j.x), j.up < 0 ? exact_linear{} : linear(j.up),
          p.c ? load_element(*p.c, o.c, row, col, batch) : 0.0, weight_of(p, o, row, col),
          p.scale_d ? result_scale(p, o, row, col, batch) : 1.0};
}

exact_fused reference_fused(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                            std::int64_t col, std::int64_t batch) {
  exact_fused r = reference_vectors(p, o, row, col, batch);
  product_columns const j = columns_of(p, col);
  add_products(p, o, row, j.x, batch, r.x);
  if (j.up >= 0) add_products(p, o, row, j.up, batch, r.up);
  return r;
}

exact_sum reference_element(gemm_problem const& p, gemm_operands const& o, std::int64_t row,
                            std::int64_t col, std::int64_t batch) {
  exact_sum x{0.0, 0.0, p.c ? load_element(*p.c, o.c, row, col, batch) : 0.0};
  x.second_level = second_level_of_sums(p, o);
  add_products(p, o, row, col, batch, x);
  return x;
}

}  // namespace tw
