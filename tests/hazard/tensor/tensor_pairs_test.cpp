// SPDX-License-Identifier: Apache-2.0
// tensor_pairs_test.cpp  CTA pairs: accumulators that warps of both CTAs give back, signals between
//                        the two CTAs, the end of the pair's columns.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

std::uint64_t pair_source[256];

constexpr std::uint32_t pair_idesc =
    umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = 64, .m = 128}.bits();

/// Thread 0 loads and waits; the columns of the pair, known to all of its threads.
std::uint32_t begin_pair(memory s, args p, int arrivals_of_free = 1, int arrivals_of_full = 1) {
  if (thread_id() == 0) {
    s.full[0].init(1);
    s.full[1].init(arrivals_of_full);
    s.empty[0].init(1);
    s.empty[1].init(arrivals_of_free);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (warp_id() == 0) tmem_alloc<2>(&s.tensor_at, tensor_columns);
  load_operands(s, p);
  cluster_sync();
  return s.tensor_at;
}
void end_pair(std::uint32_t d) {
  cluster_sync();
  if (warp_id() == 0) tmem_dealloc<2>(d, tensor_columns);
}
/// One thread of the pair.
void multiply_pair(memory s, std::uint32_t d, emu::site where = emu::site::here()) {
  for (int k = 0; k < 4; ++k)
    umma<umma_kind::f16, 2>(d, umma_operand(s.a[0]) + 32 * k, umma_operand(s.b[0]) + 32 * k,
                            pair_idesc, k > 0, where);
  umma_commit_multicast<2>(s.empty[0], 0b11);
}

enum class release { none, cta, cluster, relaxed };

/// Warps 0 to 3 of both CTAs load what warp 4 of the even CTA multiplies, three times. Each of the
/// 8 warps gives the accumulator back: 4 arrivals of the even CTA's own threads, 4 of its peer's.
template <bool Fence, release Odd>
void three_turns(memory s, args p, emu::site read, emu::site multiplied) {
  std::uint32_t const d = begin_pair(s, p, 8);
  bool const leads = cluster_rank() == 0;
  for (std::uint32_t turn = 0; turn < 3; ++turn) {
    if (warp_id() == 4) {
      if (!leads) continue;
      s.empty[1].wait<scope::cluster>((turn & 1U) ^ 1U);
      tcgen05_fence_after();
      if (elect_one()) multiply_pair(s, d, multiplied);
      warp_sync();
      continue;
    }
    s.empty[0].wait<scope::cluster>(turn & 1U);
    tcgen05_fence_after();
    auto r = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(d, 32 * warp_id(), 0), read);
    tmem_wait_load(r);
    if constexpr (Fence) tcgen05_fence_before();
    warp_sync();
    if (lane_id() != 0) continue;
    if (leads)
      s.empty[1].arrive();
    else if constexpr (Odd == release::cta)
      s.empty[1].arrive_remote<scope::cta>(0);
    else if constexpr (Odd == release::relaxed)
      s.empty[1].arrive_remote_relaxed(0);
    else
      s.empty[1].arrive_remote<scope::cluster>(0);
  }
  end_pair(d);
}

TEST_P(Hazards, E0101WarpsOfBothCtasGiveAnAccumulatorBack) {
  expect<160, 2>(
      {.code = "E0101", .object = "tensor memory of CTA", .part = "tcgen05_fence_before()"},
      []<bool Broken>(memory s, args p) {
        three_turns<!Broken, release::cluster>(s, p, emu::site::here(),  // earlier
                                               emu::site::here());       // now
      });
}

TEST_P(Hazards, E0116TheOddCtaGivesAnAccumulatorBackWithCtaScope) {
  expect<160, 2>(
      {.code = "E0116", .object = "tensor memory of CTA 1", .part = "cluster scope in the arrive"},
      []<bool Broken>(memory s, args p) {
        three_turns<true, Broken ? release::cta : release::cluster>(s, p,
                                                                    emu::site::here(),   // earlier
                                                                    emu::site::here());  // now
      });
}

/// A relaxed arrive of cluster scope and the fences order operations of tcgen05.
TEST_P(Hazards, ARelaxedArriveOfThePeerGivesAnAccumulatorBack) {
  emu::report const r = run_body<false, 160, 2>(
      []<bool>(memory s, args p) {
        three_turns<true, release::relaxed>(s, p, emu::site::here(), emu::site::here());
      },
      scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

/// A barrier counts a commit in its CTA, and a release of the peer.
TEST_P(Hazards, E0101ACommitAndAnArriveOfThePeer) {
  expect<128, 2>(
      {.code = "E0101", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_after()"},
      []<bool Broken>(memory s, args p) {
        if (thread_id() == 0) {
          s.full[0].init(1);
          s.empty[0].init(2);
          fence_mbarrier_init();
        }
        cluster_sync();
        std::uint32_t const d = allocate(s);
        if (cluster_rank() == 0) multiply_once(s, p, d);  // earlier
        if (cluster_rank() == 1 && thread_id() == 0) s.empty[0].arrive_remote<scope::cluster>(0);
        if (cluster_rank() == 0) {
          s.empty[0].wait<scope::cluster>(0);
          if (!Broken) tcgen05_fence_after();
          auto r = load_tile(d);  // now
          tmem_wait_load(r);
        }
        give_back(d);
        cluster_sync();
      });
}

/// The odd CTA's threads copy its part of A; its thread 0 signals to the even CTA's thread 0.
template <release How, scope Wait>
void relay(memory s, args p, emu::site copied, emu::site multiplied) {
  std::uint32_t const d = begin_pair(s, p, 1, cluster_rank() == 0 ? 2 : 1);
  if (cluster_rank() == 1) {
    for (int i = thread_id(); i < 1024; i += 128)
      cp_async<8>(&s.a[1][i], pair_source + i % 256, 8, copied);
    cp_async_commit();
    cp_async_wait<0>();
    fence_proxy_async();
    cta_sync();
    if (thread_id() == 0)
      s.full[1].arrive_remote<How == release::cta ? scope::cta : scope::cluster>(0);
  } else if (thread_id() == 0) {
    s.full[1].arrive_expect_tx(8192);
    tma_load(s.a[1], p.inner, s.full[1], tma_coord{0, 0});
  }
  if (cluster_rank() == 0 && thread_id() == 0) {
    s.full[1].wait<Wait>(0);
    umma<umma_kind::f16, 2>(d, umma_operand(s.a[1]), umma_operand(s.b[0]), pair_idesc, false,
                            multiplied);
    umma_commit_multicast<2>(s.empty[0], 0b11);
  }
  s.empty[0].wait<scope::cluster>(0);
  end_pair(d);
}
TEST_P(Hazards, E0116CopiesRelayedByAnArriveOfCtaScope) {
  expect<128, 2>({.code = "E0116", .object = "a[1]", .part = "cluster scope in the arrive"},
                 []<bool Broken>(memory s, args p) {
                   relay<Broken ? release::cta : release::cluster, scope::cluster>(
                       s, p, emu::site::here(),  // earlier
                       emu::site::here());       // now
                 });
}

TEST_P(Hazards, E0116CopiesAndAWaitOfCtaScope) {
  expect<128, 2>({.code = "E0116", .object = "a[1]", .part = "cluster scope in the wait"},
                 []<bool Broken>(memory s, args p) {
                   relay<release::cluster, Broken ? scope::cta : scope::cluster>(
                       s, p, emu::site::here(),  // earlier
                       emu::site::here());       // now
                 });
}

/// Within a CTA: cp.async is of the generic proxy, and a relaxed arrive does not carry it.
TEST_P(Hazards, E0045CopiesRelayedByARelaxedArrive) {
  expect({.code = "E0045", .object = "a[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      cp_async<8>(s.a[0], pair_source);  // earlier
      cp_async_commit();
      cp_async_wait<0>();
      if (Broken)
        s.full[0].arrive_relaxed();
      else
        s.full[0].arrive();
    }
    s.full[0].wait(0);
    if (thread_id() == 32) s.b[0][0] = s.a[0][0];  // now
  });
}

/// Both CTAs multiply and load, then give the columns back.
template <class Handshake>
void pair_ends(memory s, args p, Handshake handshake, emu::site where) {
  std::uint32_t const d = begin_pair(s, p);
  if (cluster_rank() == 0 && thread_id() == 0) multiply_pair(s, d);
  s.empty[0].wait<scope::cluster>(0);
  tcgen05_fence_after();
  auto r = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(d, 32 * warp_id(), 0), where);
  tmem_wait_load(r);
  cta_sync();
  handshake();
  if (warp_id() == 0) tmem_dealloc<2>(d, tensor_columns, where);
}

TEST_P(Hazards, E0115PairGivesBackWithoutAHandshake) {
  expect<128, 2>({.code = "E0115", .object = "tensor memory of CTA", .part = "a handshake"},
                 []<bool Broken>(memory s, args p) {
                   auto const together = [] {
                     if constexpr (!Broken) cluster_sync();
                   };
                   pair_ends(s, p, together, emu::site::here());  // now earlier
                 });
}

/// As CUTLASS does it: the odd CTA arrives, the even one waits and arrives, the odd one waits.
TEST_P(Hazards, APairGivesBackAfterAHandshakeOfTwoArrives) {
  emu::report const r = run_body<false, 128, 2>(
      []<bool>(memory s, args p) {
        auto const handshake = [&] {
          int const rank = cluster_rank();
          if (warp_id() != 0) return;
          if (rank == 1 && lane_id() == 0) s.empty[1].arrive_remote(0);
          s.empty[1].wait<scope::cluster>(0);
          warp_sync();
          if (rank == 0 && lane_id() == 0) s.empty[1].arrive_remote(1);
        };
        pair_ends(s, p, handshake, emu::site::here());
      },
      scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_P(Hazards, E0115PairGivesBackBeforeThePeerHasAllocated) {
  expect<128, 2>({.code = "E0115", .object = "tensor memory of CTA", .part = "has allocated"},
                 []<bool Broken>(memory s, args) {
                   cluster_sync();
                   if (warp_id() == 0) tmem_alloc<2>(&s.tensor_at, tensor_columns);
                   Broken ? cta_sync() : cluster_sync();
                   if (warp_id() == 0) tmem_dealloc<2>(s.tensor_at, tensor_columns);  // now
                 });
}

/// In the even CTA alone, as the multiplies.
TEST_P(Hazards, E0109BothCtasCopyFactors) {
  expect<128, 2>(
      {.code = "E0109", .object = "tensor memory of CTA", .part = "one thread of one CTA"},
      []<bool Broken>(memory s, args p) {
        for (int i = thread_id(); i < 128; i += 128) s.x[i] = 1.0F;
        fence_proxy_async();
        std::uint32_t const d = begin_pair(s, p);
        if (thread_id() == 0 && (Broken || cluster_rank() == 0)) {
          tmem_copy<tmem_copy_shape::c32x128b_x4, 2>(  // now earlier
              d, make_umma_desc(smem_addr(s.x), 16, 128, swizzle_mode::none));
          umma_commit_multicast<2>(s.empty[0], 0b11);
        }
        s.empty[0].wait<scope::cluster>(0);
        end_pair(d);
      });
}

}  // namespace
}  // namespace tw::test
