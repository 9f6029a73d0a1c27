// SPDX-License-Identifier: Apache-2.0
// gather_rows.hpp  Rows of A (groups of columns: columns of B) that an index array names, to the
//                  stages. TMA of Hopper GPUs cannot gather rows: two warps of the producer's
//                  warpgroup copy them by cp.async, with the swizzle of the tensor maps. Copies
//                  arrive at the barrier `rows_landed`.
//
// wgmma reads shared memory through the async proxy. A third warp waits for `rows_landed`, executes
// fence.proxy.async, and signals the stage's barrier `ab_landed` as boxes do: the MEMBAR of the
// fence would wait for copies of the same warp (docs/decisions/0057).
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/epilogue/group_rows.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// Warp 1 of the CTA passes gathered rows on, warps 2 and 3 copy them.
inline constexpr int first_gather_warp = 2;
inline constexpr int gather_threads = (warps_of_warpgroup - first_gather_warp) * warp_threads;

/// The barriers of gathered rows; kernels that cannot gather have none.
template <gemm_config C, bool = C.gathers()>
struct gather_smem {
  TW_DEVICE void init() {}
};
template <gemm_config C>
struct gather_smem<C, true> {
  mbarrier rows_landed[C.stages];

  TW_DEVICE void init() {
    for (mbarrier& landed : rows_landed) landed.init(gather_threads);
  }
};

/// One of the gather_threads threads that copy rows for a CTA; its warp has 40 registers. Other
/// kernels: empty.
template <gemm_config C, bool = C.gathers()>
class row_gather {
 public:
  TW_DEVICE explicit row_gather(gemm_params const&) {}
  TW_DEVICE static bool is_on(gemm_params const&) { return false; }
};

template <gemm_config C>
class row_gather<C, true> {
 public:
  static constexpr bool of_a = C.ragged == group_axis::m;
  static constexpr int rows = of_a ? C.tile_m : C.tile_n;

  TW_DEVICE explicit row_gather(gemm_params const& p) : p_(p) {}
  TW_DEVICE static bool is_on(gemm_params const& p) { return p.epilogue.group.gather != nullptr; }

  /// Begins a tile, whose first row is row `first` of those that groups divide, and of which `left`
  /// are in the group: 0 or less in a CTA of a cluster without rows. `reports`: this tile says
  /// which numbers are not possible. load() copies K blocks from `first_k` on.
  TW_DEVICE void begin(int first, int left, bool reports, int first_k) {
    left_ = left < 0 ? 0 : left < rows ? left : rows;
    from_ = data() + first_k * std::int64_t{row_bytes} + chunk_of_lane() * tma_chunk_bytes;
    auto const pitch =
        static_cast<std::uint32_t>((of_a ? p_.group.a_pitch : p_.group.b_pitch) / tma_chunk_bytes);
    bool all = true;
    TW_UNROLL
    for (int h = 0; h < held; ++h) {
      int const i = lane_id() + h * warp_threads;
      int const row = i / at_once * step + warp_ * at_once + i % at_once;
      chunk_[h] = 0;
      if (left_ == 0) continue;
      // A row after the group that is copied with others is the last row again. It is not stored.
      int const at = first + (row < left_ ? row : left_ - 1);
      int const number = gathered_row(p_.epilogue.group, at);
      if (number < 0 && reports) report_index(p_.epilogue.group, at);
      chunk_[h] = number < 0 ? no_row : static_cast<std::uint32_t>(number) * pitch;
      all = all && number >= 0;
    }
    all_there_ = ballot(all) == all_lanes;
  }

  /// Copies the next K block of the tile, block k of A, to the stage `slot`.
  template <class Smem>
  TW_DEVICE void load(Smem& s, ring<C.stages> const& slot, int k) {
    s.slot_free[slot.stage].wait(slot.phase ^ 1U);
    // Consumers free the stages of several CTAs by relaxed arrivals, which order no copies.
    if constexpr (C.cluster() > 1) s.gather.rows_landed[slot.stage].wait(slot.phase ^ 1U);
    std::byte* const stage = of_a ? s.a[slot.stage] : s.b[slot.stage];  // (rows, tile_k)
    std::int64_t const left_in_row = p_.group.gathered_bytes - k * std::int64_t{row_bytes};
    // A warp gives an instruction every 4 to 7 clocks: each row costs three.
    if (all_there_ && left_in_row >= row_bytes)
      copy(stage, [](std::byte* to, std::byte const* from, bool) { cp_async_cg(to, from); });
    else
      copy_part(stage, left_in_row);
    from_ += row_bytes;
    cp_async_mbarrier_arrive_noinc(s.gather.rows_landed[slot.stage]);
  }

  /// A thread without copies in flight: passes the rows of the stage `slot` on to the consumers.
  template <class Smem>
  TW_DEVICE static void pass_on(Smem& s, ring<C.stages> const& slot) {
    s.gather.rows_landed[slot.stage].wait(slot.phase);
    fence_proxy_async();
    s.ab_landed[slot.stage].arrive();
  }

 private:
  static constexpr int row_bytes = widest_span_bytes;
  static constexpr int chunks = row_bytes / tma_chunk_bytes;
  static constexpr int at_once = warp_threads / chunks;         // rows that a warp copies at once
  static constexpr int step = gather_threads / chunks;          // rows that the warps copy at once
  static_assert(step == core_matrix_rows && rows % step == 0);  // a lane's place in the swizzle
  static constexpr int turns = rows / step;
  static constexpr int turns_together = turns < 8 ? 1 : 4;  // that a warp does or leaves
  /// Rows of which a lane holds the place, of those that its warp copies.
  static constexpr int held = (turns * at_once + warp_threads - 1) / warp_threads;
  static constexpr std::uint32_t no_row = ~0U;

  TW_DEVICE std::byte const* data() const {
    return static_cast<std::byte const*>(of_a ? p_.group.a_data : p_.group.b_data);
  }
  TW_DEVICE static int chunk_of_lane() { return lane_id() % chunks; }

  /// Calls copy_chunk(to, from, is the row there?) for the lane's chunk of each of its rows.
  template <class Copy>
  TW_DEVICE void copy(std::byte* stage, Copy const& copy_chunk) const {
    int const sub = lane_id() / chunks, row = warp_ * at_once + sub;
    // 128-byte swizzle: chunk c of row r is at chunk c ^ (r mod 8) of the row.
    std::byte* const to = stage + row * row_bytes + (chunk_of_lane() ^ row) * tma_chunk_bytes;
    TW_UNROLL
    for (int i = 0; i < turns; ++i) {
      int const first = i / turns_together * turns_together * step + warp_ * at_once;
      if (first >= left_) {  // rows after the group
        leave_undefined(to + i * step * row_bytes, tma_chunk_bytes);
        continue;
      }
      std::uint32_t const at =
          shuffle(chunk_[i * at_once / warp_threads], i * at_once % warp_threads + sub);
      copy_chunk(to + i * step * row_bytes,
                 from_ + static_cast<std::uint64_t>(at) * tma_chunk_bytes, at != no_row);
    }
  }

  /// copy() of a K block of which `left` bytes of a row are inside of A, or of a tile that lacks a
  /// row: the other bytes become zeros.
  TW_DEVICE void copy_part(std::byte* stage, std::int64_t left) const {
    std::int64_t const in_row = left - chunk_of_lane() * tma_chunk_bytes;
    int const valid = in_row <= 0                ? 0
                      : in_row < tma_chunk_bytes ? static_cast<int>(in_row)
                                                 : tma_chunk_bytes;
    copy(stage, [&](std::byte* to, std::byte const* from, bool there) {
      bool const some = there && valid > 0;  // else no address beyond A
      cp_async_cg(to, some ? from : data(), some ? valid : 0);
    });
  }

  gemm_params const& p_;
  int const warp_ = warp_id() - first_gather_warp;
  std::uint32_t chunk_[held] = {};   // the places of rows in A, in chunks of 16 bytes
  std::byte const* from_ = nullptr;  // the lane's chunk of row 0 of A, of the next K block
  int left_ = 0;
  bool all_there_ = false;
};

}  // namespace tw
