// SPDX-License-Identifier: Apache-2.0
// mbarrier.hpp  The barrier object in shared memory (emulated). PTX ISA, "mbarrier".
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Emulated: the number of the phase, then 32 bits of pending arrivals.
struct mbarrier_token {
  std::uint64_t bits;
};

/// 64 bits of shared memory; the engine keeps the state and writes a handle into the word.
struct alignas(8) mbarrier {
  std::uint64_t word;

  void init(int arrivals, emu::site where = emu::site::here()) {
    emu::mbarrier_init(this, arrivals, where);
  }
  void inval(emu::site where = emu::site::here()) { emu::mbarrier_inval(this, where); }
  void arrive(emu::site where = emu::site::here()) { emu::mbarrier_arrive(this, 1, where); }
  void arrive(int count, emu::site where = emu::site::here()) {
    emu::mbarrier_arrive(this, count, where);
  }
  template <scope S = scope::cta>
  void arrive_relaxed(emu::site where = emu::site::here()) {
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    emu::mbarrier_arrive_relaxed(this, where);
  }
  mbarrier_token arrive_token(emu::site where = emu::site::here()) {
    return {emu::mbarrier_arrive_token(this, where)};
  }
  static int pending_count(mbarrier_token token) {
    return static_cast<int>(token.bits & 0xFFFFFFFFU);
  }
  template <scope S = scope::cluster>
  void arrive_remote(int cta, emu::site where = emu::site::here()) {
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    emu::mbarrier_arrive_remote(
        this, cta,
        S == scope::cluster ? emu::arrive_order::release_cluster : emu::arrive_order::release_cta,
        where);
  }
  void arrive_remote_relaxed(int cta, emu::site where = emu::site::here()) {
    emu::mbarrier_arrive_remote(this, cta, emu::arrive_order::relaxed_cluster, where);
  }
  void expect_tx(int bytes, emu::site where = emu::site::here()) {
    emu::mbarrier_expect_tx(this, bytes, where);
  }
  void expect_tx_remote(int cta, int bytes, emu::site where = emu::site::here()) {
    emu::mbarrier_expect_tx_remote(this, cta, bytes, where);
  }
  void arrive_expect_tx_remote(int cta, int bytes, emu::site where = emu::site::here()) {
    emu::mbarrier_expect_tx_remote(this, cta, bytes, where);
    emu::mbarrier_arrive_remote(this, cta, emu::arrive_order::release_cluster, where);
  }
  void arrive_expect_tx(int bytes, emu::site where = emu::site::here()) {
    emu::mbarrier_arrive_expect_tx(this, bytes, where);
  }
  mbarrier_token arrive_expect_tx_token(int bytes, emu::site where = emu::site::here()) {
    emu::mbarrier_expect_tx(this, bytes, where);
    return arrive_token(where);
  }
  void wait_token(mbarrier_token t, emu::site where = emu::site::here()) {
    emu::mbarrier_wait(this, static_cast<std::uint32_t>(t.bits >> 32U & 1U), scope::cta, where);
  }
  template <scope S = scope::cta>
  bool try_wait(std::uint32_t parity, emu::site where = emu::site::here()) {
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    return emu::mbarrier_try_wait(this, parity, S, where);
  }
  template <scope S = scope::cta>
  bool test_wait(std::uint32_t parity, emu::site where = emu::site::here()) {
    static_assert(S != scope::gpu, "an mbarrier has cta or cluster scope");
    return emu::mbarrier_test_wait(this, parity, S, where);
  }
  template <scope S = scope::cta>
  void wait(std::uint32_t parity, emu::site where = emu::site::here()) {
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    emu::mbarrier_wait(this, parity, S, where);
  }
  template <scope S = scope::cta>
  void wait_relaxed(std::uint32_t parity, emu::site where = emu::site::here()) {
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    emu::mbarrier_wait_relaxed(this, parity, where);
  }
};

/// 4, 8 or 16 bytes to the place of `own` in CTA `cta`, where the current phase of `landed` counts
/// them.
template <class T>
TW_DEVICE void store_async(T* own, T const& value, mbarrier& landed, int cta,
                           emu::site where = emu::site::here()) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T),
                "st.async writes 4, 8 or 16 bytes, aligned to their size");
  emu::store_async(own, &value, sizeof(T), &landed, cta, where);
}

}  // namespace tw
