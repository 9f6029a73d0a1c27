// SPDX-License-Identifier: Apache-2.0
// block_sums.hpp  The main loop with block scales: the tensor cores multiply each K block to
//                 another accumulator, and the warps of the epilogue add it, times its scales, to
//                 sums in registers (../block_scales.hpp). Three accumulators take turns.
#pragma once

#include "tilewright/kernel/sm100/block_scales.hpp"
#include "tilewright/kernel/sm100/mainloop/mainloop_of.hpp"

namespace tw {

template <sm100_config C, class Roles, class Profile>
struct sm100_mainloop<C, Roles, Profile, true> {
  using record = sm100_record<Profile>;
  using tiles = sm100_tiles<C>;
  using store = sm100_epilogue<C>;
  static constexpr int accumulators = C.accumulators();

  /// The warp that multiplies.
  template <class Smem>
  TW_DEVICE static void multiply(sm100_params const& p, Smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<C.stages> at;
    ring<accumulators> acc;
    tiles::template each<warp_threads>(p.walk, s.next, [&](tile_place const&, int) {
      for (int k = 0; k < p.k_blocks; ++k, at.next(), acc.next()) {
        record::wait_for_operands(s, at);
        s.acc_free[acc.stage].wait(acc.phase ^ 1U);
        tcgen05_fence_after();
        if (elect_one()) {
          std::uint32_t const d =
              tmem_at(tensor, 0, C.accumulator_column(acc.stage));  // (tile_m, tile_n)
          sm100_multiply<C, Roles>::k_block(s, at.stage, d, false);
          Roles::commit(s.slot_free[at.stage]);
          Roles::commit(s.acc_full[acc.stage]);
        }
        warp_sync();
      }
    });
  }

  /// The four warps of the epilogue: add the K blocks of a tile, and store it.
  template <class Smem>
  TW_DEVICE static void epilogue(sm100_params const& p, Smem& s, std::uint32_t, int warp) {
    enter_role("epilogue");
    typename record::template of_epilogue<Smem> const recorded{s, warp};
    typename store::boxes boxes{s.d[warp_id() - Roles::first_epilogue_warp]};
    // Registers are scarce: the turn of an accumulator and the parity of its phase are one number,
    // and what follows from the warp is computed again where it is used.
    int turn = 0;
    auto const first_row = [] { return Roles::first_row(warp_id()); };  // of a CTA's part of a tile
    auto const columns = [&](int i) {
      return tmem_at(s.tensor_at, first_row(), C.accumulator_column(i));  // (32, tile_n)
    };
    auto const sums = [&] {
      return tmem_at(s.tensor_at, first_row(), C.sums_column());  // (32, tile_n)
    };
    auto const next = [&] {
      s.acc_full[turn % accumulators].wait(static_cast<std::uint32_t>(turn / accumulators));
      tcgen05_fence_after();
      return columns(turn % accumulators);
    };
    auto const loaded = [&] {
      Roles::release(s.acc_free[turn % accumulators]);
      turn = turn + 1 < 2 * accumulators ? turn + 1 : 0;
    };
    tiles::template each<warp_threads>(p.walk, s.next, [&](tile_place const& tile, int) {
      fragment_place const at{(tile.m * C.ctas + Roles::rank()) * Roles::rows + first_row(),
                              tile.n * C.d_cols(), tile.batch};
      column_scales* const scales = s.scales.of_warp[warp_id() - Roles::first_epilogue_warp];
      compiler_fence();
      recorded.waits();
      if (at.row < p.epilogue.m) {
        sm100_scaled_sums<C>::store(
            p, at, scales, [&] { return sums(); }, next, loaded);
      } else {
        for (int k = 0; k < p.k_blocks; ++k) {
          next();
          loaded();
        }
      }
      recorded.has_waited();
      Roles::store_tile(p.epilogue, sums(), at, 1.0F, boxes, [] {});
      recorded.has_stored();
    });
    if (lane_id() == 0) tma_store_wait_read<0>();
    tcgen05_fence_before();  // the sums are freed after the barrier that follows
  }
};

}  // namespace tw
