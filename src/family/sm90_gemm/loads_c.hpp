// SPDX-License-Identifier: Apache-2.0
// loads_c.hpp  Which launches load C by TMA (kernel/sm90/epilogue/staged_c.hpp).
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Can a kernel load C of problem `q`, as the kernel runs it, by TMA? C is row-major and as wide as
/// D, and its lines begin at multiples of 16 bytes if C does. split_k: several clusters add to a
/// tile.
inline bool loads_c(gemm_config const& c, gemm_problem const& q, bool split_k) {
  if (!c.loads_c() || split_k || !q.c || q.beta == 0 || q.c->has_pointers()) return false;
  std::int64_t const size = size_bytes(q.c->type);
  auto const is_chunks = [&](std::int64_t elems) {
    return elems > 0 && elems * size % tma_chunk_bytes == 0;
  };
  return size == size_bytes(c.d) && q.c->ord == order::row_major && is_chunks(q.c->pitch_elems) &&
         (q.d_matrices() == 1 || is_chunks(q.c->batch_stride_elems));
}

}  // namespace tw
