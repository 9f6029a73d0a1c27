// SPDX-License-Identifier: Apache-2.0
// ladder.hpp  The common part of the rungs: the problem, tensor maps, registers, planted bugs.
#pragma once

#include <algorithm>
#include <bit>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/execute.hpp"
#include "tilewright/atom/tma_map.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/tensor/identity.hpp"

namespace ladder {

using namespace tw;

/// D[M,N] = A[M,K] B[N,K]^T in bf16. All three are row-major, so A and B are contiguous along K;
/// the leading dimensions are multiples of 8 elements, the 16 bytes that TMA needs.
struct problem {
  bf16 const *a, *b;
  bf16* d;
  int m, n, k;
  int lda, ldb, ldd;
  int sms;       // of the device
  target where;  // GPU or emulator
};

/// Faults that the emulator can plant in a rung; tools/check/rungs/rungs.cpp describes them.
enum class bug : int {
  none,
  one_step_more,       // 1
  no_wgmma_wait,       // 2
  bytes_of_a_alone,    // 3
  prefetch_first,      // 3, side/prefetch_first.hpp
  never_free,          // 4
  too_many_registers,  // 5
  ring_restarts,       // 6
  phase_never_flips,   // 7
  no_exit_barrier,     // 8
  mask_of_one,         // 8
  no_bounds,           // 8
  adds_to_nothing,     // 9
  no_proxy_fence,      // 10
  staging_reused,      // 10
  odd_square,          // 11
  warps_apart,         // 3, side/prefetch_first.hpp
  no_wgmma_fence,      // 6
};
/// The one configuration parameter of every rung.
struct config {
  bool breakable = false;            // `planted` counts: for the emulator
  int consumers = 2;                 // rung 5: 1 needs more registers than a thread has
  bool set_registers = true;         // from rung 5 on: setmaxnreg
  bool grouped = true;               // rung 6: tiles in groups; else consecutive tiles for each CTA
  int cluster_m = 2, cluster_n = 1;  // from rung 8 on
  bool swizzled_d = true;            // rung 10: D in shared memory
  bool d_by_rows = true;             // D in global memory; else by columns
  bool pairs = true, streamed = true;  // side/stores.hpp: elements of D that a thread stores
  int stages = 2, in_flight = 0;       // side/multistage.hpp
};

/// Which bug is planted: read by kernels with config::breakable.
inline bug planted = bug::none;

template <bool Breakable>
struct bug_switch {
  TW_HD static constexpr bool on(bug) { return false; }
};
template <>
struct bug_switch<true> {
  static bool on(bug b) { return planted == b; }
};
/// Is this bug planted? On the GPU a constant: no code remains of it. Host code calls it too.
template <config C>
TW_HD inline bool has(bug b) {
  return bug_switch<C.breakable>::on(b);
}

/// The tensor map of a row-major matrix for boxes of a tile in shared memory.
inline tensor_map map_of(bf16 const* base, int rows, int columns, int ld, layout const& box,
                         target where) {
  layout const gmem = make_layout(layout(rows, ld), layout(columns, 1));
  tiler const tile = tw::tile(size(mode(box, 0)), size(mode(box, 1)));
  return make_tensor_map(make_tensor_map_desc(make_tma_params(gmem, box, tile, 16), elem::bf16,
                                              const_cast<bf16*>(base)),
                         where);
}

/// D[rows, columns] in global memory.
template <config C>
TW_DEVICE auto view_of_d(bf16* d, int rows, int columns, int ld) {
  if constexpr (C.d_by_rows)
    return gmem_view<16>(d, rows, columns, ld);
  else
    return col_major_gmem_view<16>(d, rows, columns, ld);
}

/// x as bf16, by the conversion instruction.
TW_DEVICE bf16 rounded(float x) { return {static_cast<std::uint16_t>(pack2<elem::bf16>(x, 0))}; }

template <tiled_mma Mma, int M, int N>
TW_DEVICE void set_to_zero(accumulators<Mma, M, N>& sums, call_site where = call_site::here()) {
  using all = accumulators<Mma, M, N>;
  unrolled<all::rows * all::columns>([&](auto at) {
    in_name_of(where, [&](auto... place) {
      TW_UNROLL
      for (int v = 0; v < Mma.atom.n / 2; ++v)
        sums(register_index{v, place...}, at / all::columns, at % all::columns) = 0;
    });
  });
}

/// wgmma_fence and wgmma_wait of one or two accumulators.
template <tiled_mma Mma, int M, int N>
TW_DEVICE void fence(accumulators<Mma, M, N>& sums, call_site where = call_site::here()) {
  in_name_of(where, [&](auto... place) {
    if constexpr (accumulators<Mma, M, N>::rows == 1)
      wgmma_fence(sums.part[0][0], place...);
    else
      wgmma_fence(sums.part[0][0], sums.part[1][0], place...);
  });
}
template <tiled_mma Mma, int M, int N>
TW_DEVICE void wait(accumulators<Mma, M, N>& sums, call_site where = call_site::here()) {
  in_name_of(where, [&](auto... place) {
    if constexpr (accumulators<Mma, M, N>::rows == 1)
      wgmma_wait<0>(sums.part[0][0], place...);
    else
      wgmma_wait<0>(sums.part[0][0], sums.part[1][0], place...);
  });
}

}  // namespace ladder
