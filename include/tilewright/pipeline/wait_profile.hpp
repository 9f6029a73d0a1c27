// SPDX-License-Identifier: Apache-2.0
// wait_profile.hpp  The record of stages (stage_profile.hpp) of a kernel that waits for operands
//                   without an mbarrier, such as for cp.async.
#pragma once

#include <type_traits>

#include "tilewright/pipeline/stage_profile.hpp"

namespace tw {

/// begins() and ends() enclose each wait of a warpgroup. With no_profile they are nothing.
template <class Profile>
struct recorded_wait {
  template <class Record>
  TW_DEVICE static void begins(Record& record, int role) {
    Profile::store_begins(record, role);  // the tensor cores have been busy until here
  }
  template <class Record>
  TW_DEVICE static void ends(Record& record, int role) {
    if constexpr (!std::is_same_v<Profile, no_profile>) {
      if (thread_id() % warpgroup_threads != 0) return;
      auto& r = record.role[role];
      std::uint64_t const now = sm_clock();
      r.add(kernel_stage::load, r.since, now);
      r.since = now;
    }
  }
};

}  // namespace tw
