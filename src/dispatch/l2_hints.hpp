// SPDX-License-Identifier: Apache-2.0
// l2_hints.hpp  What a launch tells L2 about its operands and its result. The limits were measured
//               on an H200: docs/decisions/0020.
#pragma once

#include <cstdint>

#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/params.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

struct l2_hints {
  l2_load a = l2_load::plain, b = l2_load::plain;
  int a_miss_bytes = 256;  // tensor_map_desc::l2_miss_bytes of A
  bool d_evict_first = false;
};

/// Hints for a problem in the form that the kernel computes, on `ctas` CTAs at once.
/// - A D larger than L2 makes room first: the next launch would not find its beginning there.
/// - So does an operand of which each element is loaded once, beside a small D: with one above 12
/// MB
///   that costs as much as it gains below. The weights of few rows are A of an M-major kernel; many
///   CTAs fetch them in pieces of 128 bytes. On the side of B those of 60 to 500 MB gain.
/// - Few CTAs of M-major tiles of 64 rows, bound by what one SM loads, load A with evict_normal,
///   which is another way through L2; all SMs together get less by it.
/// CTAs of a cluster that loads together get no hints for what they load.
constexpr l2_hints l2_hints_of(gemm_config const& c, int ctas, gemm_problem const& q) {
  constexpr std::int64_t mb = 1'000'000, l2_bytes = 50 * mb, small_d_bytes = 12 * mb;
  std::int64_t const d_bytes = q.m * q.n * q.batch * size_bytes(q.d.type);
  bool const small_d = d_bytes <= small_d_bytes;
  auto const own = [&](matrix_desc const& x) {  // each product has a matrix of its own
    return q.batch == 1 || x.batch_stride_elems != 0 || x.has_pointers();
  };
  l2_hints h;
  h.d_evict_first = d_bytes > l2_bytes;
  if (c.cluster_m * c.cluster_n > 1 || c.pingpong) return h;
  if (c.d_m) {
    if (q.n <= c.tile_n && own(q.a)) {
      if (small_d) h.a = l2_load::evict_first;
      if (small_d && ctas > 100 && q.n <= 32) h.a_miss_bytes = 128;
    } else if (c.tile_m == 64 && ctas <= 50) {
      h.a = l2_load::evict_normal;
    }
  } else if (q.m <= c.tile_m && own(q.b) && small_d && c.tile_n <= 128 && ctas > 66) {
    std::int64_t const b_bytes = q.n * q.k * q.batch * size_bytes(q.b.type);
    if (b_bytes >= 60 * mb && b_bytes <= 500 * mb) h.b = l2_load::evict_first;
  }
  return h;
}

}  // namespace tw
