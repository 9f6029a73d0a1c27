// SPDX-License-Identifier: Apache-2.0
// support.hpp  Which shapes the library computes, and the problem that a shape stands for.
#pragma once

#include <optional>
#include <string>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tools/measure/shape.hpp"
#include "tools/request/dtypes.hpp"
#include "tools/request/epilogues.hpp"
#include "tools/request/gemm_request.hpp"
#include "tools/request/problem_request.hpp"
#include "tools/request/result_scales.hpp"

namespace tw::bench {

/// Nothing, or why the shape cannot be measured yet. Such shapes are listed, never dropped.
inline std::optional<std::string> why_unsupported(gemm_shape const& s) {
  if (!s.group_m.empty() || s.category == "grouped") return "not supported yet: grouped GEMMs";
  if (!find_epilogue(s.epilogue)) return "not supported yet: epilogue " + s.epilogue;
  bool const f32 = holds_float_sums(find_dtype(s.dtype).value().d);
  if (!s.epilogue.empty() && (f32 || s.batch > 1))
    return "not supported yet: epilogues of batches or with f32 results";
  if ((s.scale_d.any() || find_dtype(s.dtype).value().format_d) && s.batch > 1)
    return "not supported yet: batches with scales of D";
  if (!s.unknown_fields.empty()) return "unknown field \"" + s.unknown_fields.front() + "\"";
  return std::nullopt;
}

/// The name of the types of a size: operands, D (empty: the usual one), and whether D has scales.
inline std::string dtype_of_size(std::string const& ab, std::string const& d, bool scaled_d) {
  auto const row = find_dtype(ab);
  if (d.empty() && scaled_d && row) return dtype_name(ab, name(default_d(row->ab, true)));
  return dtype_name(ab, d);
}

/// Refuses (TW0615) options of scales of D that do not go together, and a scale that is given as a
/// number: operands are random here.
inline void check_result_scales(result_scale_request const& r) {
  check_result_scale_options(r);
  if (!r.text.empty() && !r.computed() && r.text != "given")
    throw rejected({"TW0615", "scale of D", r.text, "amax-row, amax-1x128 or given",
                    "the benchmark makes the scale, as it makes the operands"});
}

/// The scales of D that a shape requests.
inline result_scale_request result_scales_of(gemm_shape const& s) {
  result_scale_request r = s.scale_d;
  r.format = find_dtype(s.dtype).value().format_d;
  return r;
}

/// The problem of a supported shape, with dense matrices; those of a batch lie one after the
/// other.
inline gemm_problem problem_of(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  problem_request a{.m = s.m, .n = s.n, .k = s.k, .batch = s.batch, .layout = s.layout};
  a.ab = type.ab, a.b = type.b, a.d = type.d, a.precision = type.precision;
  a.format = type.format, a.scale_d = result_scales_of(s);
  for (role const x : a_and_b)
    if (type.scales[x]) a.scales[x] = scale_choice{*type.scales[x], scale_library::cublaslt};
  a.epilogue = find_epilogue(s.epilogue).value();
  return tw::problem_of(a);
}

/// The batch with arrays of addresses.
inline gemm_problem with_pointers(gemm_problem p) {
  for (matrix_desc* m : {&p.a, &p.b, &p.d}) m->batch_stride_elems = matrix_desc::by_pointers;
  return p;
}

inline double flop(gemm_shape const& s) {
  return 2.0 * static_cast<double>(s.batch) * static_cast<double>(s.m) * static_cast<double>(s.n) *
         static_cast<double>(s.k);
}

/// Each operand read once, the result written once.
inline double compulsory_bytes(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  double const m = static_cast<double>(s.m), n = static_cast<double>(s.n),
               k = static_cast<double>(s.k);
  auto const e = find_epilogue(s.epilogue);
  double const results =
      e ? m * static_cast<double>(result_cols(e->epilogue, s.n)) * (e->residual ? 2 : 1) : m * n;
  double const bits = (m * k + k * n) * size_bits(type.ab) + results * size_bits(type.d);
  return static_cast<double>(s.batch) * bits / 8;
}

}  // namespace tw::bench
