// SPDX-License-Identifier: Apache-2.0
// support.hpp  Which shapes the library computes, and the problem that a shape stands for.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "bench/dtypes.hpp"
#include "bench/epilogues.hpp"
#include "bench/shape.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

/// Nothing, or why the shape cannot be measured yet. Such shapes are listed, never dropped.
inline std::optional<std::string> why_unsupported(gemm_shape const& s) {
  if (auto const missing = missing_for(s.dtype))
    return "not supported yet: " + std::string(*missing);
  if (!s.group_m.empty() || s.category == "grouped") return "not supported yet: grouped products";
  if (!find_epilogue(s.epilogue)) return "not supported yet: epilogue " + s.epilogue;
  bool const f32 = find_dtype(s.dtype).value().d == elem::f32;
  if (!s.epilogue.empty() && (f32 || s.batch > 1))
    return "not supported yet: epilogues of batches or with f32 results";
  if (!s.unknown_fields.empty()) return "unknown field \"" + s.unknown_fields.front() + "\"";
  return std::nullopt;
}

/// The product of a supported shape, with dense pitches; the matrices of a batch lie one behind the
/// other.
inline gemm_problem problem_of(gemm_shape const& s) {
  auto const type = find_dtype(s.dtype).value();
  gemm_problem p;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.a = s.layout[0] == 'T' ? matrix_desc{type.ab, order::row_major, s.k}
                           : matrix_desc{type.ab, order::col_major, s.m};
  p.b = s.layout[1] == 'N' ? matrix_desc{type.ab, order::col_major, s.k}
                           : matrix_desc{type.ab, order::row_major, s.n};
  p.batch = s.batch;
  auto const fused = find_epilogue(s.epilogue).value();
  std::int64_t const cols = result_cols(fused.epilogue, s.n);
  p.d = {type.d, order::row_major, cols};
  if (s.batch > 1) {
    p.a.batch_stride_elems = s.m * s.k;
    p.b.batch_stride_elems = s.k * s.n;
    p.d.batch_stride_elems = s.m * s.n;
  }
  if (s.epilogue.empty()) return p;
  p.epilogue = fused.epilogue;
  p.epilogue.bias_type = type.d;
  p.alpha = 1 / std::sqrt(static_cast<float>(s.k));  // sums of magnitude 1: activations bend there
  if (fused.residual) p.c = p.d, p.beta = 1;
  return p;
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
