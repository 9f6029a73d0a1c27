// SPDX-License-Identifier: Apache-2.0
// tile_sums.hpp  The main loop without block scales: the tensor cores add all K blocks of a tile in
//                one accumulator, which the epilogue stores. Two accumulators take turns.
#pragma once

#include "tilewright/kernel/sm100/mainloop/mainloop_of.hpp"

namespace tw {

template <sm100_config C, class Roles, class Profile>
struct sm100_mainloop<C, Roles, Profile, false> {
  using record = sm100_record<Profile>;
  using tiles = sm100_tiles<C>;
  static constexpr int accumulators = C.accumulators();

  /// The warp that multiplies.
  template <class Smem>
  TW_DEVICE static void multiply(sm100_params const& p, Smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<C.stages> at;
    tiles::template each<warp_threads>(p.walk, s.next, [&](tile_place const&, int i) {
      int const acc = i % accumulators;
      std::uint32_t const d = tmem_at(tensor, 0, C.accumulator_column(acc));  // (tile_m, tile_n)
      s.acc_free[acc].wait(Roles::acc_phase(i) ^ 1U);
      tcgen05_fence_after();
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        record::wait_for_operands(s, at);
        if (elect_one()) {
          sm100_multiply<C, Roles>::k_block(s, at.stage, d, k > 0);
          Roles::commit(s.slot_free[at.stage]);
          if (k == p.k_blocks - 1) Roles::commit(s.acc_full[acc]);
        }
        warp_sync();
      }
    });
  }

  /// The four warps of the epilogue.
  template <class Smem>
  TW_DEVICE static void epilogue(sm100_params const& p, Smem& s, std::uint32_t tensor, int warp) {
    Roles::epilogue(
        s, p.epilogue, tensor, warp, 1.0F,
        [&](auto&& f) { tiles::template each<warp_threads>(p.walk, s.next, f); },
        typename record::template of_epilogue<Smem>{s, warp});
  }
};

}  // namespace tw
