// SPDX-License-Identifier: Apache-2.0
// stage_profile.hpp  A record of how long a kernel's math warpgroups load, multiply and store: a
//                    policy that a kernel takes as a type, empty unless a profile is wanted.
//
// A kernel with a parameter `class Profile` has, from the policy,
//   Profile::params<P>     its parameters, with the address of the log
//   Profile::barrier<K>    the type of the barriers that its math warpgroups wait on for operands
//   Profile::smem<Roles>   a member of its smem, called `profile`: a record for each warpgroup
// and calls start, store_begins, store_ends and finish. With no_profile these are nothing, and the
// machine code is that of the kernel without them.
//
// stage_profile reads the clock of the SM in one thread of each warpgroup:
//   load         it waits for operands that have not landed
//   tensor core  from there until it waits again, or stores
//   store        from the last wgmma of a tile until its results are on their way
// Warpgroups 1 and later multiply, each with 128 threads; warpgroup 0 loads.
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

enum class kernel_stage : std::int32_t { load, tensor_core, store };
inline constexpr int kernel_stage_count = 3;
inline constexpr char const* kernel_stage_names[] = {"load", "tensor core", "store"};

/// Readings of sm_clock().
struct stage_event {
  std::uint64_t begin, end;
  kernel_stage stage;
};

/// Global memory for the events of a launch: `capacity` for each math warpgroup of each CTA, and
/// how many it had, which may be more.
struct stage_log {
  stage_event* events;
  std::int32_t* counts;
  std::int32_t capacity;
};

struct no_profile {
  template <class Params>
  using params = Params;
  template <class Kernel>
  using barrier = mbarrier;
  template <int Roles>
  struct smem {};

  template <class Params, class Smem>
  TW_DEVICE static void start(Params const&, Smem&, int) {}
  template <class Smem>
  TW_DEVICE static void store_begins(Smem&, int) {}
  template <class Smem>
  TW_DEVICE static void store_ends(Smem&, int) {}
  template <class Params, class Smem>
  TW_DEVICE static void finish(Params const&, Smem&, int) {}
};

struct stage_profile {
  template <class Params>
  struct params : Params {
    stage_log log;
  };

  /// Of a warpgroup; its first thread alone uses it.
  struct recorder {
    stage_event* events;
    std::int32_t capacity, count;
    std::uint64_t since;  // end of the wait for operands; 0: none since the last store

    TW_DEVICE void add(kernel_stage stage, std::uint64_t begin, std::uint64_t end) {
      if (count < capacity) events[count] = {begin, end, stage};
      ++count;
    }
  };
  template <int Roles>
  struct smem {
    recorder role[Roles];
  };

  /// The barrier of a stage; its waits are recorded.
  template <class Kernel>
  struct barrier : mbarrier {
    TW_DEVICE void wait(std::uint32_t phase) {
      recorder& r = dynamic_smem<typename Kernel::smem>().profile.role[warpgroup_id() - 1];
      std::uint64_t begin = 0;
      if (leads()) {
        begin = sm_clock();
        if (r.since != 0) r.add(kernel_stage::tensor_core, r.since, begin);
      }
      mbarrier::wait(phase);
      if (leads()) {
        r.since = sm_clock();
        r.add(kernel_stage::load, begin, r.since);
      }
    }
  };

  template <class Params, class Smem>
  TW_DEVICE static void start(Params const& p, Smem& s, int role) {
    if (!leads()) return;
    int const index = cta_id() * roles(s) + role;
    s.role[role] = {p.log.events + static_cast<std::int64_t>(index) * p.log.capacity,
                    p.log.capacity, 0, 0};
  }
  template <class Smem>
  TW_DEVICE static void store_begins(Smem& s, int role) {
    if (!leads()) return;
    recorder& r = s.role[role];
    std::uint64_t const now = sm_clock();
    if (r.since != 0) r.add(kernel_stage::tensor_core, r.since, now);
    r.since = now;
  }
  template <class Smem>
  TW_DEVICE static void store_ends(Smem& s, int role) {
    if (!leads()) return;
    recorder& r = s.role[role];
    r.add(kernel_stage::store, r.since, sm_clock());
    r.since = 0;
  }
  template <class Params, class Smem>
  TW_DEVICE static void finish(Params const& p, Smem& s, int role) {
    if (leads()) p.log.counts[cta_id() * roles(s) + role] = s.role[role].count;
  }

 private:
  TW_DEVICE static bool leads() { return thread_id() % warpgroup_threads == 0; }
  template <int Roles>
  TW_DEVICE static constexpr int roles(smem<Roles> const&) {
    return Roles;
  }
};

}  // namespace tw
