// SPDX-License-Identifier: Apache-2.0
// folded.hpp  A batch that is one GEMM: the same B for all, and rows that continue from a matrix to
//             the next.
#pragma once

#include <cstdint>

#include "family/normal_form.hpp"

namespace tw {

/// Is each row-major matrix of `rows` rows followed by the next one, as if they were one?
inline bool is_contiguous(matrix_desc const& m, std::int64_t rows) {
  return m.ord == order::row_major && m.batch_stride_elems == rows * m.pitch_elems;
}

/// The problem with the smallest batch: a batch with one B whose A, C,
/// D and aux are contiguous is a single GEMM of batch * m rows; the transposed case likewise. Else
/// as it was.
inline gemm_problem folded(gemm_problem const& p) {
  constexpr std::int64_t most_rows = std::int64_t{1} << 30;  // TMA coordinates are int32
  auto const fold_rows = [](gemm_problem q) {
    auto const& of_b = scale(q, role::b);
    bool per_row = scale(q, role::a) || q.scale_d || (of_b && of_b->batch_stride != 0);
    for (operand_row const& r : operand_rows)
      per_row = per_row || (r.vector != nullptr && q.epilogue.*r.vector == along::rows);
    bool const on = is_contiguous(q.a, q.m) && is_contiguous(q.d, q.m) &&
                    (!q.c || is_contiguous(*q.c, q.m)) && (!q.aux || is_contiguous(*q.aux, q.m));
    if (q.b.batch_stride_elems != 0 || !on || per_row || q.m * q.batch > most_rows) return q;
    q.m *= q.batch;
    q.batch = 1;
    q.a.batch_stride_elems = q.d.batch_stride_elems = 0;
    if (q.c) q.c->batch_stride_elems = 0;
    if (q.aux) q.aux->batch_stride_elems = 0;
    return q;
  };
  if (p.batch == 1 || p.groups) return p;
  gemm_problem const rows = fold_rows(p);
  if (rows.batch == 1 || p.epilogue.gate != gating::none) return rows;
  return transposed(fold_rows(transposed(p)));
}

}  // namespace tw
