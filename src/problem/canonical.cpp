// SPDX-License-Identifier: Apache-2.0
// canonical.cpp  Which matrices have two orders.
#include "tilewright/problem/canonical.hpp"

namespace tw {

matrix_desc in_order(matrix_desc const& as_given, order wanted, std::int64_t rows,
                     std::int64_t cols) {
  if (as_given.ord == wanted || as_given.has_pointers()) return as_given;
  bool const row_major = as_given.ord == order::row_major;
  std::int64_t const length = row_major ? cols : rows, lines = row_major ? rows : cols;
  matrix_desc m = as_given;
  m.ord = wanted;
  if (lines == 1) {  // its elements are lines of one element now
    m.pitch_elems = 1;
    return m;
  }
  if (length != 1 || as_given.pitch_elems != 1) return as_given;
  m.pitch_elems = lines;
  return m;
}

gemm_problem canonical(gemm_problem p) {
  bool const k_major = p.k != 1 || p.epilogue.gate != gating::none || p.aux;
  p.a = in_order(p.a, k_major ? order::row_major : order::col_major, p.m, p.k);
  p.b = in_order(p.b, k_major ? order::col_major : order::row_major, p.k, p.n);
  std::int64_t const d_cols = result_cols(p.epilogue, p.n);
  // Kernels with prepared weights as A have a column-major D.
  order const wanted = p.weights_a ? order::col_major : order::row_major;
  matrix_desc const d = in_order(p.d, wanted, p.m, d_cols);
  if (!p.aux) {
    p.d = d;
  } else {
    matrix_desc const aux = in_order(*p.aux, d.ord, p.m, p.n);
    if (aux.ord == d.ord) p.d = d, p.aux = aux;
  }
  if (p.c) p.c = in_order(*p.c, p.d.ord, p.m, d_cols);
  return p;
}

}  // namespace tw
