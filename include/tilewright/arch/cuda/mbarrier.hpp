// SPDX-License-Identifier: Apache-2.0
// mbarrier.hpp  The barrier object in shared memory. PTX ISA, "mbarrier".
#pragma once

#include <cstdint>

#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// The state of an mbarrier before an arrive: its phase and pending count. PTX ISA,
/// "mbarrier.arrive".
struct mbarrier_token {
  std::uint64_t bits;
};

/// 64 bits of shared memory. A phase completes when the expected arrivals are in and no expected
/// bytes are owed; waiters name the phase by its parity (the first phase has parity 0).
struct alignas(8) mbarrier {
  std::uint64_t word;

  /// PTX ISA, "mbarrier.init".
  TW_DEVICE void init(int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(this)), "r"(arrivals)
                 : "memory");
  }

  /// Ends the life of this barrier: its memory may hold other things from here on. No thread waits
  /// for it, arrives at it or has copies under way that it counts; a barrier orders their last use
  /// of it before. PTX ISA, "mbarrier.inval".
  TW_DEVICE void inval() {
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_addr(this)) : "memory");
  }

  /// PTX ISA, "mbarrier.arrive"; the default order is .release.cta.
  TW_DEVICE void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_addr(this)) : "memory");
  }

  /// Arrives for `count` threads at once, at least 1. PTX ISA, "mbarrier.arrive".
  TW_DEVICE void arrive(int count) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(this)), "r"(count)
                 : "memory");
  }

  /// Arrives and orders no memory: for barriers that order operations of tcgen05 alone, between
  /// tcgen05_fence_before and tcgen05_fence_after. PTX ISA, "mbarrier.arrive": .relaxed.
  template <scope S = scope::cta, class Target = detail::this_target>
  TW_DEVICE void arrive_relaxed() {
    detail::need_sm90<Target>();
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    if constexpr (S == scope::cluster)
      asm volatile("mbarrier.arrive.relaxed.cluster.shared::cta.b64 _, [%0];" ::"r"(smem_addr(this))
                   : "memory");
    else
      asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(smem_addr(this))
                   : "memory");
  }

  /// Arrives, and returns the barrier as it was before. PTX ISA, "mbarrier.arrive".
  TW_DEVICE mbarrier_token arrive_token() {
    mbarrier_token token;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                 : "=l"(token.bits)
                 : "r"(smem_addr(this))
                 : "memory");
    return token;
  }
  /// Arrivals that the phase was still waiting for, that of the token included. PTX ISA,
  /// "mbarrier.pending_count".
  TW_DEVICE static int pending_count(mbarrier_token token) {
    int count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token.bits));
    return count;
  }

  /// Arrives at this barrier of CTA `cta`. S = cluster: earlier writes are visible there after
  /// wait<scope::cluster>. S = cta: the instruction without qualifiers, .release.cta, orders
  /// nothing towards another CTA. PTX ISA, "mapa", "mbarrier.arrive".
  template <scope S = scope::cluster, class Target = detail::this_target>
  TW_DEVICE void arrive_remote(int cta) {
    detail::need_sm90<Target>();
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    if constexpr (S == scope::cluster)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(cta))
                   : "memory");
    else
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(peer(cta)) : "memory");
  }
  /// Arrives at this barrier of CTA `cta` and orders no memory. PTX ISA, "mbarrier.arrive".
  template <class Target = detail::this_target>
  TW_DEVICE void arrive_remote_relaxed(int cta) {
    detail::need_sm90<Target>();
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(cta))
                 : "memory");
  }

  /// The current phase owes `bytes` more. PTX ISA, "mbarrier.expect_tx".
  template <class Target = detail::this_target>
  TW_DEVICE void expect_tx(int bytes) {
    detail::need_sm90<Target>();
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_addr(this)),
                 "r"(bytes)
                 : "memory");
  }
  /// The current phase of this barrier of CTA `cta` owes `bytes` more. PTX ISA,
  /// "mbarrier.expect_tx".
  template <class Target = detail::this_target>
  TW_DEVICE void expect_tx_remote(int cta, int bytes) {
    detail::need_sm90<Target>();
    asm volatile(
        "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(peer(cta)),
        "r"(bytes)
        : "memory");
  }
  /// expect_tx_remote, then arrive_remote. PTX ISA, "mbarrier.arrive": .expect_tx.
  template <class Target = detail::this_target>
  TW_DEVICE void arrive_expect_tx_remote(int cta, int bytes) {
    detail::need_sm90<Target>();
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                     peer(cta)),
                 "r"(bytes)
                 : "memory");
  }
  /// expect_tx, then arrive. PTX ISA, "mbarrier.arrive": .expect_tx.
  template <class Target = detail::this_target>
  TW_DEVICE void arrive_expect_tx(int bytes) {
    detail::need_sm90<Target>();
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_addr(this)),
                 "r"(bytes)
                 : "memory");
  }

  /// arrive_expect_tx, and the phase at which that was. PTX ISA, "mbarrier.arrive": .expect_tx.
  template <class Target = detail::this_target>
  TW_DEVICE mbarrier_token arrive_expect_tx_token(int bytes) {
    detail::need_sm90<Target>();
    mbarrier_token t;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(t.bits)
                 : "r"(smem_addr(this)), "r"(bytes)
                 : "memory");
    return t;
  }
  /// Waits for the phase of a token, as cuda::barrier does. Only a thread that has arrived has a
  /// token: it waits for the phase at which it arrived. PTX ISA,
  /// "mbarrier.test_wait / mbarrier.try_wait".
  template <class Target = detail::this_target>
  TW_DEVICE void wait_token(mbarrier_token t) {
    detail::need_sm90<Target>();
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "again:\n"
        "mbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again;\n"
        "}" ::"r"(smem_addr(this)),
        "l"(t.bits)
        : "memory");
  }

  /// True if the phase of this parity has completed; may sleep for a while before it says no.
  /// PTX ISA, "mbarrier.test_wait / mbarrier.try_wait"; the default order is .acquire.cta.
  template <scope S = scope::cta, class Target = detail::this_target>
  TW_DEVICE bool try_wait(std::uint32_t parity) {
    detail::need_sm90<Target>();
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    std::uint32_t done;
    if constexpr (S == scope::cluster)
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(smem_addr(this)), "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(smem_addr(this)), "r"(parity)
          : "memory");
    return done != 0;
  }

  /// True if the phase of this parity has completed; returns at once. PTX ISA,
  /// "mbarrier.test_wait / mbarrier.try_wait"; the default order is .acquire.cta.
  template <scope S = scope::cta, class Target = detail::this_target>
  TW_DEVICE bool test_wait(std::uint32_t parity) {
    detail::need_sm90<Target>();
    static_assert(S != scope::gpu, "an mbarrier has cta or cluster scope");
    std::uint32_t done;
    if constexpr (S == scope::cluster)
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(smem_addr(this)), "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
          "selp.u32 %0, 1, 0, p;\n"
          "}"
          : "=r"(done)
          : "r"(smem_addr(this)), "r"(parity)
          : "memory");
    return done != 0;
  }

  /// Waits for the phase of this parity. PTX ISA, "mbarrier.test_wait / mbarrier.try_wait".
  template <scope S = scope::cta, class Target = detail::this_target>
  TW_DEVICE void wait(std::uint32_t parity) {
    detail::need_sm90<Target>();
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    if constexpr (S == scope::cluster)
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "again:\n"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
          "@!p bra again;\n"
          "}" ::"r"(smem_addr(this)),
          "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "again:\n"
          "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
          "@!p bra again;\n"
          "}" ::"r"(smem_addr(this)),
          "r"(parity)
          : "memory");
  }
  /// Waits for the phase of this parity, without acquire: writes that others made before they
  /// arrived may not be visible afterwards, nor may bytes that TMA has copied. Use it with
  /// barriers that order tcgen05 operations alone, and call tcgen05_fence_after next. PTX ISA,
  /// "mbarrier.test_wait / mbarrier.try_wait": .relaxed.
  template <scope S = scope::cta, class Target = detail::this_target>
  TW_DEVICE void wait_relaxed(std::uint32_t parity) {
    detail::need_sm90<Target>();
    static_assert(S <= scope::cluster, "an mbarrier has cta or cluster scope");
    if constexpr (S == scope::cluster)
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "again:\n"
          "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 p, [%0], %1;\n"
          "@!p bra again;\n"
          "}" ::"r"(smem_addr(this)),
          "r"(parity)
          : "memory");
    else
      asm volatile(
          "{\n"
          ".reg .pred p;\n"
          "again:\n"
          "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%0], %1;\n"
          "@!p bra again;\n"
          "}" ::"r"(smem_addr(this)),
          "r"(parity)
          : "memory");
  }

 private:
  TW_DEVICE std::uint32_t peer(int cta) const { return detail::peer_addr(this, cta); }
};

/// Writes 4, 8 or 16 bytes to the place of `own` in CTA `cta`, where the current phase of `landed`
/// counts them. A thread that waits for that phase with scope::cluster sees the bytes. The receiver
/// announces them with expect_tx; the sender does not arrive. Before TMA or wgmma reads the bytes,
/// the receiver needs fence_proxy_async(), as after ordinary stores. The kernel has clusters: in a
/// launch without, an H100 takes st.async as an illegal instruction. PTX ISA, "st.async".
template <class T, class Target = detail::this_target>
TW_DEVICE void store_async(T* own, T const& value, mbarrier& landed, int cta) {
  detail::need_sm90<Target>();
  static_assert((sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T),
                "st.async writes 4, 8 or 16 bytes, aligned to their size");
  if constexpr (sizeof(T) == 4) {
    std::uint32_t w;
    __builtin_memcpy(&w, &value, 4);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                     detail::peer_addr(own, cta)),
                 "r"(w), "r"(detail::peer_addr(&landed, cta))
                 : "memory");
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t w;
    __builtin_memcpy(&w, &value, 8);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                     detail::peer_addr(own, cta)),
                 "l"(w), "r"(detail::peer_addr(&landed, cta))
                 : "memory");
  } else {
    std::uint32_t w[4];
    __builtin_memcpy(w, &value, 16);
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(detail::peer_addr(own, cta)),
        "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(detail::peer_addr(&landed, cta))
        : "memory");
  }
}

}  // namespace tw
