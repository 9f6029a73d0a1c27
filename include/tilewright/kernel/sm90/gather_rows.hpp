// SPDX-License-Identifier: Apache-2.0
// gather_rows.hpp  Rows of A (groups of columns: columns of B) that an index array names, to the
//                  stages. TMA of Hopper GPUs cannot gather rows: three warps of the producer's
//                  warpgroup copy them by cp.async, with the swizzle of the tensor maps, and signal
//                  the stage's barrier `ab_landed` as boxes do.
//
// wgmma reads shared memory through the async proxy. A warp waits for its copies, which it issues
// a few K blocks earlier, and executes fence.proxy.async before it signals.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// One of the threads that gather rows for a CTA; its warp has 40 registers. Other kernels: empty.
template <gemm_config C, bool = C.gathers()>
class row_gather {
 public:
  static constexpr int warps = 0;
  TW_DEVICE explicit row_gather(gemm_params const&) {}
  TW_DEVICE static bool is_on(gemm_params const&) { return false; }
};

template <gemm_config C>
class row_gather<C, true> {
 public:
  static constexpr int warps = warps_of_warpgroup - 1;  // each arrives once at ab_landed
  static constexpr bool of_a = C.ragged == group_axis::m;
  static constexpr int rows = of_a ? C.tile_m : C.tile_n;

  TW_DEVICE explicit row_gather(gemm_params const& p) : p_(p) {}
  TW_DEVICE static bool is_on(gemm_params const& p) { return p.epilogue.group.gather != nullptr; }

  /// Begins a tile, whose first row is row `first` of those that groups divide, and of which `left`
  /// are in the group: 0 or less in a CTA of a cluster without rows. `reports`: this tile says
  /// which numbers are not possible.
  TW_DEVICE void begin(int first, int left, bool reports) {
    left_ = left < 0 ? 0 : left < rows ? left : rows;
    TW_UNROLL
    for (int h = 0; h < held; ++h) {
      int const i = lane_id() + h * warp_threads, row = row_of(i / at_once, i % at_once);
      from_[h] = -1;
      if (row >= left_) continue;
      from_[h] = gathered_row(p_.epilogue.group, first + row);
      if (from_[h] < 0 && reports) report_index(p_.epilogue.group, first + row);
    }
  }

  /// Copies K block k of the tile to the stage `slot`.
  template <class Smem>
  TW_DEVICE void load(Smem& s, ring<C.stages> const& slot, int k) {
    s.slot_free[slot.stage].wait(slot.phase ^ 1U);
    std::byte* const stage = of_a ? s.a[slot.stage] : s.b[slot.stage];  // (rows, tile_k)
    int const chunk = lane_id() % chunks, sub = lane_id() / chunks;
    std::int64_t const at = k * std::int64_t{row_bytes} + chunk * tma_chunk_bytes;
    std::int64_t const in_row = p_.group.gathered_bytes - at;
    int const valid = in_row < tma_chunk_bytes ? static_cast<int>(in_row) : tma_chunk_bytes;
    auto const* const data =
        static_cast<std::byte const*>(of_a ? p_.group.a_data : p_.group.b_data);
    std::int64_t const pitch = of_a ? p_.group.a_pitch : p_.group.b_pitch;
    TW_NO_UNROLL
    for (int i = 0; i < turns; ++i) {
      int const mine = i * at_once + sub, row = row_of(i, sub);
      int own = from_[0];
      TW_UNROLL
      for (int h = 1; h < held; ++h)
        if (i * at_once >= h * warp_threads) own = from_[h];
      int const from = shuffle(own, mine % warp_threads);
      if (row >= rows) continue;
      // 128-byte swizzle: chunk c of row r is at chunk c ^ (r mod 8) of the row.
      std::byte* const to =
          stage + row * row_bytes + (chunk ^ row % core_matrix_rows) * tma_chunk_bytes;
      if (row >= left_) {  // is not stored
        leave_undefined(to, tma_chunk_bytes);
        continue;
      }
      bool const there = from >= 0 && valid > 0;  // else zeros; no address beyond A
      cp_async_cg(to, there ? data + from * pitch + at : data, there ? valid : 0);
    }
    cp_async_commit();
    if (pending_ == lag) {
      cp_async_wait<lag>();
      signal(s, slot.stage - lag);
    } else {
      ++pending_;
    }
  }

  /// After the last K block, whose stage is before `slot`: waits for all copies.
  template <class Smem>
  TW_DEVICE void finish(Smem& s, ring<C.stages> const& slot) {
    cp_async_wait<0>();
    for (; pending_ > 0; --pending_) signal(s, slot.stage - pending_);
  }

 private:
  static constexpr int row_bytes = widest_span_bytes;
  static constexpr int chunks = row_bytes / tma_chunk_bytes;
  static constexpr int at_once = warp_threads / chunks;  // rows that a warp copies at once
  static constexpr int turns = (rows + warps * at_once - 1) / (warps * at_once);
  /// Numbers of rows that a lane holds, of those that its warp copies.
  static constexpr int held = (turns * at_once + warp_threads - 1) / warp_threads;
  /// K blocks whose copies may be in flight. A consumer frees a stage when it has the next K block,
  /// and the copies of a K block are signalled `lag` K blocks later.
  static constexpr int lag = C.stages >= 6 ? 3 : C.stages - 3;
  static_assert(lag > 0);

  TW_DEVICE static int warp() { return warp_id() - 1; }
  TW_DEVICE static int row_of(int turn, int sub) { return (turn * warps + warp()) * at_once + sub; }

  template <class Smem>
  TW_DEVICE static void signal(Smem& s, int stage) {
    fence_proxy_async();
    warp_sync();
    if (lane_id() == 0) s.ab_landed[stage < 0 ? stage + C.stages : stage].arrive();
  }

  gemm_params const& p_;
  int from_[held] = {};  // rows of A
  int left_ = 0, pending_ = 0;
};

}  // namespace tw
