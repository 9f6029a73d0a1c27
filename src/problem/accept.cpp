// SPDX-License-Identifier: Apache-2.0
// accept.cpp  The rules a problem must keep, each with its code.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "problem/accept_groups.hpp"
#include "problem/accept_scales.hpp"
#include "problem/accept_weights.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/canonical.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

namespace {

/// An enum of the problem that a cast or memory that was never set has given another value.
refusal check_enumerators(gemm_problem const& p) {
  auto const refused = [](std::string what, int got, int last) {
    return rejection{"TW0416", std::move(what), fmt::format("the value {}", got),
                     fmt::format("an enumerator, 0 to {}", last), ""};
  };
  auto const value = [](auto e) { return static_cast<int>(e); };
  auto const beyond = [&](auto e, auto last) { return value(e) > value(last); };
  constexpr auto last_elem = static_cast<elem>(elem_count - 1);
  for (operand_row const& r : operand_rows) {
    matrix_desc const* const m = matrix_of(p, r.is);
    if (m == nullptr) continue;
    if (beyond(m->type, last_elem))
      return refused(fmt::format("type of {}", r.text), value(m->type), value(last_elem));
    if (beyond(m->ord, order::col_major))
      return refused(fmt::format("order of {}", r.text), value(m->ord), value(order::col_major));
  }
  gemm_epilogue const& e = p.epilogue;
  if (!is_activation(e.act)) return refused("activation", value(e.act), activation_count - 1);
  if (beyond(e.gate, gating::split)) return refused("gate", value(e.gate), value(gating::split));
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr) continue;
    vector_desc const& v = e.*r.vector;
    if (beyond(v.over, along::cols))
      return refused(fmt::format("direction of {}", r.text), value(v.over), value(along::cols));
    if (beyond(v.type, last_elem))
      return refused(fmt::format("type of {}", r.text), value(v.type), value(last_elem));
  }
  return std::nullopt;
}

refusal check_extents(gemm_problem const& p) {
  constexpr std::int64_t limit = (std::int64_t{1} << 31) - 1 - 512;  // TMA coordinates are int32
  struct extent {
    char const* name;
    std::int64_t value;
  };
  for (extent const e : {extent{"M", p.m}, extent{"N", p.n}, extent{"K", p.k}}) {
    int const least = e.name[0] == 'K' ? 0 : 1;  // with K = 0, A B is zero
    if (e.value < least || e.value > limit)
      return rejection{"TW0401", fmt::format("extent {}", e.name), fmt::format("{}", e.value),
                       fmt::format("{} to {}", least, limit),
                       e.value == 0 ? "D has no elements: there is nothing to plan" : ""};
  }
  return std::nullopt;
}

refusal check_matrix(char const* name, matrix_desc const& m, std::int64_t rows, std::int64_t cols,
                     std::int64_t batch) {
  bool const row_major = m.ord == order::row_major;
  std::int64_t const inner = row_major ? cols : rows;
  std::int64_t const outer = row_major ? rows : cols;
  if (m.pitch_elems < inner)
    return rejection{"TW0402",
                     fmt::format("leading dimension of {} (matrix_desc::pitch_elems)", name),
                     fmt::format("{} elements", m.pitch_elems),
                     fmt::format("at least {} elements, the length of a {}", inner,
                                 row_major ? "row" : "column"),
                     ""};
  constexpr double limit_bytes = 1LL << 44;
  bool const pointers = m.has_pointers();
  if (batch > 1 && m.batch_stride_elems < 0 && !pointers)
    return rejection{"TW0422",
                     fmt::format("batch stride of {} (matrix_desc::batch_stride_elems)", name),
                     fmt::format("{} elements", m.batch_stride_elems),
                     "0 (the same matrix for all), more, or matrix_desc::by_pointers",
                     "begin with the matrix of the lowest address"};
  double const elem_bytes = size_bits(m.type) / 8.0;
  double const pitch = static_cast<double>(m.pitch_elems) * elem_bytes;
  double const stride =
      batch == 1 || pointers ? 0 : static_cast<double>(m.batch_stride_elems) * elem_bytes;
  double const bytes = pitch * static_cast<double>(outer) + stride * static_cast<double>(batch - 1);
  if (bytes > limit_bytes || pitch >= 1LL << 40 || stride >= 1LL << 40)
    return rejection{"TW0403", fmt::format("size of {}", name), fmt::format("{:.3g} bytes", bytes),
                     "at most 2^44 bytes in all and 2^40 per leading dimension and batch stride",
                     ""};
  return std::nullopt;
}

refusal check_batch(gemm_problem const& p) {
  constexpr std::int64_t limit = std::int64_t{1} << 30;  // running numbers of tiles are ints
  if (p.batch < 1 || p.batch > limit)
    return rejection{"TW0420", "GEMMs in the batch", fmt::format("{}", p.batch),
                     fmt::format("1 to {}", limit), ""};
  auto const tiles = [](std::int64_t extent) { return static_cast<double>((extent + 127) / 128); };
  double const all = tiles(p.m) * tiles(p.n) * static_cast<double>(p.batch);
  if (p.batch > 1 && all > static_cast<double>(limit))
    return rejection{"TW0421", "size of the batch",
                     fmt::format("{:.3g} blocks of 128 x 128 of D", all),
                     fmt::format("at most {}", limit), "compute it in several calls"};
  return std::nullopt;
}

/// Batched outputs must not overlap: each follows the previous one, or lies between its
/// lines.
refusal check_results_apart(char const* name, matrix_desc const& d, gemm_problem const& p,
                            std::int64_t cols) {
  std::int64_t const matrices = p.d_matrices();
  if (matrices == 1 || d.has_pointers()) return std::nullopt;
  bool const row_major = d.ord == order::row_major;
  std::int64_t const inner = row_major ? cols : p.m, outer = row_major ? p.m : cols;
  std::int64_t const pitch = d.pitch_elems, stride = d.batch_stride_elems;
  std::int64_t const whole = (outer - 1) * pitch + inner;
  bool const between_lines =
      stride >= inner && (outer == 1 || stride * (matrices - 1) + inner <= pitch);
  if (stride >= whole || between_lines) return std::nullopt;
  std::int64_t const widest = (pitch - inner) / (matrices - 1);
  std::string need = fmt::format("at least {}, so that no two results share an element", whole);
  if (widest >= inner)
    need += fmt::format("; or {} to {}, interleaved within the leading dimension", inner, widest);
  return rejection{"TW0423",
                   fmt::format("batch stride of {} (matrix_desc::batch_stride_elems)", name),
                   fmt::format("{} elements", stride), need, ""};
}

}  // namespace

bool are_operands(elem a, elem b) {
  a = multiplied_type(a), b = multiplied_type(b);
  if (is_fp8(a) || is_8_bit_integer(a))
    return is_fp8(a) == is_fp8(b) && is_8_bit_integer(a) == is_8_bit_integer(b);
  return a == b && traits_of(a).mma_operand;
}

std::vector<elem> result_types(elem a, elem b) {
  using enum elem;
  std::vector<elem> types = {bf16, f16, f32};
  if (is_8_bit_integer(a) && is_8_bit_integer(b)) types.push_back(s32);
  if (is_fp8(a) && is_fp8(b)) types.insert(types.end(), {e4m3, e5m2});
  return types;
}

namespace {

refusal check_types(gemm_problem const& p) {
  auto const operands = [&] { return fmt::format("A {}, B {}", name(p.a.type), name(p.b.type)); };
  if (auto r = check_block_scales(p)) return r;
  if (!is_block_scaled(p) && !are_operands(p.a.type, p.b.type)) {
    bool const integer = is_8_bit_integer(p.a.type) || is_8_bit_integer(p.b.type);
    return rejection{
        "TW0404", "operand types", operands(),
        fmt::format("both bf16, both f16, each {}, each {}, or each f32 or tf32",
                    list_of(elems_that(is_fp8)), list_of(elems_that(is_8_bit_integer))),
        integer                ? "quantise both operands to 8-bit integers, or neither"
        : p.a.type == p.b.type ? "convert both operands"
        : is_fp8(p.a.type) || is_fp8(p.b.type)
            ? "quantise both operands to 8-bit floats, or neither"
            : "convert one operand to the other's type"};
  }
  std::vector<elem> const results = is_block_result(p) ? std::vector{elem::e4m3, elem::e2m1}
                                    : p.scale_d        ? elems_that(is_quantized)
                                    : is_block_scaled(p)
                                        ? std::vector{elem::bf16, elem::f16, elem::f32}
                                        : result_types(p.a.type, p.b.type);
  if (std::ranges::find(results, p.d.type) == results.end())
    return rejection{"TW0405", "type of D", std::string(name(p.d.type)),
                     fmt::format("{}, for {}", list_of(results), operands()),
                     p.scale_d                   ? "scales of D belong to 8 bits: leave them out"
                     : size_bytes(p.d.type) == 1 ? "D of 8 bits needs scales: gemm_problem::scale_d"
                                                 : "convert D afterwards"};
  if (p.c && !is_wide_float(p.c->type))
    return rejection{"TW0405", "type of C", std::string(name(p.c->type)), "bf16, f16 or f32", ""};
  return std::nullopt;
}

/// D of s32 is the sum itself: nothing is multiplied or added.
refusal check_exact_result(gemm_problem const& p) {
  if (!holds_integer_sums(p.d.type)) return std::nullopt;
  bool const scaled = p.alpha != 1.0F || (p.c && p.beta != 0.0F) || (p.groups && p.groups->alpha);
  if (!scaled && !is_fused(p.epilogue) && !p.aux) return std::nullopt;
  return rejection{"TW0438", "D of s32", scaled ? "alpha or beta C" : "a fused epilogue",
                   "alpha = 1, no C and no epilogue: D is the sum itself",
                   "D of f32, bf16 or f16 takes all of these"};
}

/// Sums of products of 8-bit integers are kept in 32 bits.
refusal check_integer_sums(gemm_problem const& p) {
  if (!is_8_bit_integer(p.a.type) || p.precision.wrapping_sums) return std::nullopt;
  auto const largest = [](elem e) {
    int const bits = size_bits(e);
    return is_signed(e) ? std::int64_t{1} << (bits - 1) : (std::int64_t{1} << bits) - 1;
  };
  std::int64_t const product = largest(p.a.type) * largest(p.b.type);
  std::int64_t const most = ((std::int64_t{1} << 31) - 1) / product;
  if (p.k <= most) return std::nullopt;
  return rejection{"TW0439", "K of 8-bit integers", fmt::format("{}", p.k),
                   fmt::format("at most {}: a sum of more products of {} and {} may exceed 32 bits",
                               most, name(p.a.type), name(p.b.type)),
                   "split K into several GEMMs, or accept sums modulo 2^32: "
                   "gemm_problem::precision.wrapping_sums = true"};
}

refusal check_precision(gemm_problem const& p) {
  int const k = p.precision.promote_k;
  if (k == 0 || k == 64 || k == 128) return std::nullopt;
  return rejection{"TW0437", "promotion interval", fmt::format("{}", k), "128, 64 or 0 (never)",
                   "sums of 8-bit floats are added to float32 sums every so many elements of K"};
}

/// Vectors of the epilogue: types, and directions that an option cannot choose.
refusal check_vectors(gemm_epilogue const& e) {
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr || !(e.*r.vector)) continue;
    vector_desc const& v = e.*r.vector;
    if (r.own_type ? !is_wide_float(v.type) : v.type != elem::f32)
      return rejection{"TW0412", fmt::format("type of {}", r.text), std::string(name(v.type)),
                       r.own_type ? "f32, bf16 or f16" : "f32", ""};
    auto const direction = [](along a) { return a == along::rows ? "along::rows" : "along::cols"; };
    if (r.is != role::bias && !r.of_groups && v.over != r.over_lines)
      return rejection{"TW0412", fmt::format("direction of {}", r.text), direction(v.over),
                       direction(r.over_lines), ""};
    if ((r.is == role::bias || r.of_groups) && v.one)
      return rejection{"TW0412", fmt::format("values of {}", r.text), "one for all",
                       "one for each row or column", ""};
  }
  return std::nullopt;
}

/// Interleaved and split gates are loaded by TMA in groups of 8 columns: a group is whole, and each
/// column lies contiguous along K.
refusal check_epilogue(gemm_problem const& p) {
  gemm_epilogue const& e = p.epilogue;
  if (auto r = check_vectors(e)) return r;
  auto const order_text = [](matrix_desc const& m) {
    return m.ord == order::row_major ? "row_major" : "col_major";
  };
  if (p.aux && p.aux->has_pointers())
    return rejection{"TW0415", "auxiliary output", "a batch by pointers", "a batch by strides", ""};
  if (p.aux && (p.aux->type != p.d.type || p.aux->ord != p.d.ord))
    return rejection{"TW0415", "auxiliary output",
                     fmt::format("{}, {}", name(p.aux->type), order_text(*p.aux)),
                     fmt::format("{}, {}, as D", name(p.d.type), order_text(p.d)), ""};
  if (e.gate == gating::none && is_gate_only(e.act))
    return rejection{"TW0479", "activation without a gate",
                     all_activations.row[static_cast<std::size_t>(e.act)].word,
                     "a gate, or another activation",
                     "gemm_problem::epilogue.gate = gating::split or gating::interleaved"};
  if (e.gate == gating::none) return std::nullopt;
  if (p.n % 16 != 0)
    return rejection{"TW0411", "N with a gate", fmt::format("{}", p.n), "a multiple of 16",
                     "add columns of zeros to the gate and to what it multiplies"};
  if (p.b.ord != order::col_major)
    return rejection{"TW0411", "order of B with a gate", "row_major",
                     "col_major: each column contiguous along K",
                     "store B as (N, K) row by row, the usual order of weights: "
                     "gemm_problem::b.ord = order::col_major"};
  if (p.c && !e.c_last)
    return rejection{"TW0413", "C with a gate", "added before the activation",
                     "added last, with the N/2 columns of D: gemm_problem::epilogue.c_last = true",
                     "what is added to gate and up columns may be a bias"};
  return std::nullopt;
}

refusal check_pointers(gemm_problem const& p) {
  if (!p.has_pointers() || !is_fused(p.epilogue)) return std::nullopt;
  return rejection{"TW0425", "epilogue of a batch by pointers", "scales, bias, activation or gate",
                   "alpha and beta C alone",
                   "let the matrices lie at equal distances: a batch stride"};
}

refusal check_scalars(gemm_problem const& p) {
  if (!std::isfinite(p.alpha) || !std::isfinite(p.beta))
    return rejection{"TW0406", "alpha and beta", fmt::format("{} and {}", p.alpha, p.beta),
                     "finite numbers", ""};
  if (!p.c && p.beta != 0.0F)
    return rejection{"TW0407", "beta", fmt::format("{} without C", p.beta),
                     "a matrix C, or beta = 0", ""};
  return std::nullopt;
}

}  // namespace

std::optional<rejection> accept(gemm_problem const& p) {
  if (auto r = check_enumerators(p)) return r;
  if (auto r = check_extents(p)) return r;
  if (auto r = check_types(p)) return r;
  if (auto r = check_precision(p)) return r;
  if (auto r = check_integer_sums(p)) return r;
  if (auto r = check_batch(p)) return r;
  if (auto r = check_groups(p)) return r;
  if (auto r = check_weights(p)) return r;
  if (auto r = check_matrix("A", p.a, p.a_rows(), p.k, p.a_matrices())) return r;
  if (auto r = check_matrix("B", p.b, p.k, p.b_cols(), p.b_matrices())) return r;
  if (auto r = check_epilogue(canonical(p))) return r;
  std::int64_t const d_cols = result_cols(p.epilogue, p.d_cols());
  if (auto r = check_matrix("D", p.d, p.d_rows(), d_cols, p.d_matrices())) return r;
  if (p.c)
    if (auto r = check_matrix("C", *p.c, p.d_rows(), d_cols, p.d_matrices())) return r;
  if (p.aux)
    if (auto r = check_matrix("the auxiliary output", *p.aux, p.m, p.n, p.batch)) return r;
  if (auto r = check_results_apart("D", p.d, p, d_cols)) return r;
  if (p.aux)
    if (auto r = check_results_apart("the auxiliary output", *p.aux, p, p.n)) return r;
  if (auto r = check_pointers(p)) return r;
  if (auto r = check_scales(p)) return r;
  if (auto r = check_result_scales(p)) return r;
  if (auto r = check_scalars(p)) return r;
  return check_exact_result(p);
}

}  // namespace tw
