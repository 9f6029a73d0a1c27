// SPDX-License-Identifier: Apache-2.0
// l2_hints.hpp  The L2 cache hints of a launch, by limits that were measured: docs/decisions/0020.
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/kernel/l2_hints.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/problem/epilogue.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Hints for a problem in the form that the kernel computes, on `ctas` CTAs at once. Limits: those
/// of an H200; MB: 10^6 bytes.
/// - D: evict_first if it is larger than L2: the next launch would not find its beginning there.
/// - An operand of which each element is loaded once: evict_first if D has at most 12 MB; beside a
///   larger D it costs as much as it gains. It is A in M-major kernels (in pieces of 128 bytes on
///   more than 100 CTAs and up to 32 columns), and B of 60 to 500 MB in row-major ones, on more
///   than 66 CTAs with tiles up to 128 wide.
/// - Any other A of M-major tiles of 64 rows on at most 50 CTAs: evict_normal, which is another way
///   through L2.
/// Kernels whose CTAs multicast, and ping-pong ones, have a hint for D alone.
inline l2_hints l2_hints_of(gemm_config const& c, int ctas, gemm_problem const& q,
                            device const& dev) {
  l2_hint_calibration const& m = dev.model->l2_hints;
  auto const d_bytes =
      static_cast<double>(result_rows(q) * result_cols(q) * q.batch * size_bytes(q.d.type));
  bool const small_d = d_bytes <= m.operand_evict_first_max_d_bytes;
  auto const own = [&](matrix_desc const& x) {  // each batch index has a separate matrix
    return q.batch == 1 || x.batch_stride_elems != 0;
  };
  // The largest N of M-major kernels, and of a row-major tile, with which hints were measured.
  constexpr int line_wise_columns = 32, once_columns = 128;
  l2_hints h;
  h.d_evict_first = d_bytes > m.d_evict_first_min_bytes;
  if (c.cluster_m * c.cluster_n > 1 || c.pingpong) return h;
  if (c.d_m) {
    if (q.n <= c.tile_n && own(q.a) && small_d) {
      h.a = l2_load::evict_first;
      h.a_by_128_bytes = ctas > m.a_128_byte_min_ctas && q.n <= line_wise_columns;
    } else if (c.tile_m == wgmma_m && ctas <= m.a_evict_normal_max_ctas) {
      h.a = l2_load::evict_normal;
    }
  } else if (q.m <= c.tile_m && own(q.b) && small_d && c.tile_n <= once_columns &&
             ctas > m.b_evict_first_min_ctas) {
    auto const b_bytes = static_cast<double>(q.n * q.k * q.batch * size_bytes(q.b.type));
    if (b_bytes >= m.b_evict_first_min_bytes && b_bytes <= m.b_evict_first_max_bytes)
      h.b = l2_load::evict_first;
  }
  return h;
}

}  // namespace tw
