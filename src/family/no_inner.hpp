// SPDX-License-Identifier: Apache-2.0
// no_inner.hpp  K = 0, as in BLAS: A B is zero and D is the epilogue of beta C. Kernels get one
//               step of K over 16 bytes of zeros that every line of A and B shares.
#pragma once

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Bytes of zeros that a launch provides, at a multiple of 16.
inline constexpr int shared_zeros_bytes = 16;

/// An operand whose lines, of 16 bytes, all lie at the same address.
constexpr bool is_shared_line(matrix_desc const& m) { return m.pitch_elems == 0; }

/// With K = 0 the problem that kernels run: K-major operands whose leading dimension is 0. Else as
/// it was.
inline gemm_problem with_inner(gemm_problem p) {
  if (p.k != 0) return p;
  p.k = traits_of(p.a.type).in_bytes(shared_zeros_bytes);
  p.a = {p.a.type, order::row_major, 0, 0};
  p.b = {p.b.type, order::col_major, 0, 0};
  return p;
}

}  // namespace tw
