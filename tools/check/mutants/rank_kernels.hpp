// SPDX-License-Identifier: Apache-2.0
// rank_kernels.hpp  Correct kernels of ranks on several devices, and ways to break them: they test
//                   the emulator.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class rank_mutation : int {
  none,
  flag_without_release,
  release_of_gpu_scope,
  flag_without_acquire,
  acquire_of_gpu_scope,
  not_awaited,
  flag_before_the_stores,
  read_before_the_flag,
  buffer_reused,
  flag_never_set,
  outside_of_the_window,
  no_proxy_fence,
  next_call_too_early,
};

/// Two ranks, each on its device.
struct rank_params {
  std::uint32_t const* own;       // 64 numbers
  std::uint32_t* to_peer;         // the peer's receive buffer
  std::uint64_t* flag_of_peer;    // in the peer's memory
  std::uint64_t const* flag;      // in own memory
  std::uint32_t const* received;  // from the peer
  std::uint32_t* sum;
  rank_mutation broken;
};

/// Each rank stores 64 numbers into its peer's buffer, sets a flag there, waits for its own flag,
/// and adds the numbers that it has received.
struct rank_push {
  using bug = rank_mutation;
  using params = rank_params;
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    int const i = thread_id();
    p.to_peer[i] = p.own[i];
    if (!is(p, bug::flag_before_the_stores)) cta_sync();  // the stores of all threads come first
    if (i == 0) {
      set_flag(p);
      if (!is(p, bug::not_awaited))
        while (seen(p) == 0) backoff();
    }
    if (!is(p, bug::read_before_the_flag)) cta_sync();
    p.sum[i] = p.own[i] + p.received[i];
    if (is(p, bug::buffer_reused)) p.to_peer[i] = 7;  // the peer may not have read yet
  }

 private:
  TW_DEVICE static void set_flag(params const& p) {
    if (is(p, bug::flag_never_set)) return;
    if (is(p, bug::flag_without_release))
      store_relaxed<scope::sys>(p.flag_of_peer, std::uint64_t{1});
    else if (is(p, bug::release_of_gpu_scope))
      store_release<scope::gpu>(p.flag_of_peer, std::uint64_t{1});
    else
      store_release<scope::sys>(p.flag_of_peer, std::uint64_t{1});
  }
  TW_DEVICE static std::uint64_t seen(params const& p) {
    if (is(p, bug::flag_without_acquire)) return load_relaxed<scope::sys>(p.flag);
    if (is(p, bug::acquire_of_gpu_scope)) return load_acquire<scope::gpu>(p.flag);
    return load_acquire<scope::sys>(p.flag);
  }
};

struct gate_params {
  std::uint64_t const* flag;      // a copy engine of the peer sets it after the numbers
  std::uint32_t const* received;  // 256 numbers
  std::uint32_t* d;
  rank_mutation broken;
};

/// A gate: waits until a copy engine has filled the buffer, then loads it by TMA.
struct rank_gate {
  using bug = rank_mutation;
  using params = gate_params;
  static constexpr int threads = 64, cluster = 1;
  struct smem {
    alignas(16) std::uint32_t a[256];
    mbarrier landed;
  };
  static constexpr int smem_bytes = sizeof(smem);

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
    }
    cta_sync();
    if (thread_id() == 0) {
      if (!is(p, bug::not_awaited))
        while (seen(p) == 0) backoff();
      if (!is(p, bug::no_proxy_fence)) fence_proxy_async_global();
      s.landed.arrive_expect_tx(sizeof s.a);
      bulk_load(s.a, p.received, sizeof s.a, s.landed);
    }
    s.landed.wait(0);
    for (int i = thread_id(); i < 256; i += threads) p.d[i] = s.a[i];
  }

 private:
  TW_DEVICE static std::uint64_t seen(params const& p) {
    if (is(p, bug::flag_without_acquire)) return load_relaxed<scope::sys>(p.flag);
    return load_acquire<scope::sys>(p.flag);
  }
};

}  // namespace tw::mutants
