// SPDX-License-Identifier: Apache-2.0
// support.hpp  Which shapes the library computes, and the problem that a shape stands for.
#pragma once

#include <optional>
#include <string>

#include "bench/dtypes.hpp"
#include "bench/epilogues.hpp"
#include "bench/shape.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tools/asked_product.hpp"

namespace tw::bench {

/// Nothing, or why the shape cannot be measured yet. Such shapes are listed, never dropped.
inline std::optional<std::string> why_unsupported(gemm_shape const& s) {
  if (!s.group_m.empty() || s.category == "grouped") return "not supported yet: grouped GEMMs";
  if (!find_epilogue(s.epilogue)) return "not supported yet: epilogue " + s.epilogue;
  bool const f32 = find_dtype(s.dtype).value().d == elem::f32;
  if (!s.epilogue.empty() && (f32 || s.batch > 1))
    return "not supported yet: epilogues of batches or with f32 results";
  if (!s.epilogue.empty() && find_dtype(s.dtype).value().scale_a)
    return "not supported yet: epilogues with scales of A and B";
  if (!s.unknown_fields.empty()) return "unknown field \"" + s.unknown_fields.front() + "\"";
  return std::nullopt;
}

/// The problem of a supported shape, with dense matrices; those of a batch lie one after the
/// other.
inline gemm_problem problem_of(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  asked_product a{.m = s.m, .n = s.n, .k = s.k, .batch = s.batch, .layout = s.layout};
  a.ab = type.ab, a.b = type.b, a.d = type.d, a.precision = type.precision;
  if (type.scale_a) a.scale_a = scale_choice{*type.scale_a, scale_library::cublaslt};
  if (type.scale_b) a.scale_b = scale_choice{*type.scale_b, scale_library::cublaslt};
  a.epilogue = find_epilogue(s.epilogue).value();
  return tw::problem_of(a);
}

/// The same batch with arrays of addresses.
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
  return static_cast<double>(s.batch) *
         ((m * k + k * n) * size_bytes(type.ab) + results * size_bytes(type.d));
}

}  // namespace tw::bench
