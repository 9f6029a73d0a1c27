// SPDX-License-Identifier: Apache-2.0
// role_profile.hpp  The record of stages (stage_profile.hpp) of a kernel in which one warp
//                   multiplies and others store: each records the stages that it has.
#pragma once

#include <type_traits>

#include "tilewright/pipeline/stage_profile.hpp"

namespace tw {

/// One thread of the role calls begins(), and ends() with the stage that ends. With no_profile they
/// are nothing. Record: a kernel's Profile::smem<Roles>.
template <class Profile>
struct recorded_role {
  template <class Record>
  TW_DEVICE static void begins(Record& record, int role) {
    if constexpr (!std::is_same_v<Profile, no_profile>) record.role[role].since = sm_clock();
  }
  template <class Record>
  TW_DEVICE static void ends(Record& record, int role, kernel_stage stage) {
    if constexpr (!std::is_same_v<Profile, no_profile>) {
      auto& r = record.role[role];
      std::uint64_t const now = sm_clock();
      r.add(stage, r.since, now);
      r.since = now;  // the role's next stage begins here, unless begins() follows
    }
  }
};

}  // namespace tw
