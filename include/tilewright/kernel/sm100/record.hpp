// SPDX-License-Identifier: Apache-2.0
// record.hpp  Records when the roles of a Blackwell GEMM wait and work (pipeline/role_profile.hpp):
//             warp 1 waits for A and B of a stage; warp 2 waits for an accumulator and stores it.
//             With no_profile nothing is recorded.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/pipeline/ring.hpp"
#include "tilewright/pipeline/role_profile.hpp"

namespace tw {

/// Smem, in all functions: shared memory with the members ab_landed and profile.
template <class Profile>
struct sm100_record {
  static constexpr int multiply = 0, epilogue = 1, roles = 2;

  /// Waits for the operands of a stage, in all lanes of the warp that multiplies.
  template <class Smem, int Stages>
  TW_DEVICE static void wait_for_operands(Smem& s, ring<Stages> const& at) {
    if (lane_id() == 0) role::begins(s.profile, multiply);
    s.ab_landed[at.stage].wait(at.phase);
    if (lane_id() == 0) role::ends(s.profile, multiply, kernel_stage::load);
  }

  /// Of the epilogue's warps, the first one records.
  template <class Smem>
  struct of_epilogue {
    Smem& s;
    int warp;

    TW_DEVICE void waits() const {
      if (records()) role::begins(s.profile, epilogue);
    }
    TW_DEVICE void has_waited() const {
      if (records()) role::ends(s.profile, epilogue, kernel_stage::tensor_core);
    }
    TW_DEVICE void has_stored() const {
      if (records()) role::ends(s.profile, epilogue, kernel_stage::store);
    }

   private:
    TW_DEVICE bool records() const {
      return warp == sm100_cta::first_epilogue_warp && lane_id() == 0;
    }
  };

 private:
  using role = recorded_role<Profile>;
};

}  // namespace tw
