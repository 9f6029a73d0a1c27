// SPDX-License-Identifier: Apache-2.0
// proxy_test.cpp  Fences between the generic and the async proxy, and after mbarrier inits, one
//                 pair of accesses at a time.
#include "emu/history/access.hpp"
#include "tests/hazard/protocol.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using protocol_args = protocol_params const&;

// The table of accesses, against the PTX ISA: which write, and which use the async proxy.
TEST(AccessTable, NamesWritesAndProxies) {
  using hazard = emu::hazard::access;
  int writes = 0, asynchronous = 0;
  for (hazard const a :
       {hazard::plain_write, hazard::stmatrix, hazard::tma_write, hazard::cp_async_write,
        hazard::async_write, hazard::undefined, hazard::tma_store_write, hazard::tma_reduce,
        hazard::atomic_write, hazard::umma_write, hazard::tmem_store, hazard::tmem_copy_write,
        hazard::tmem_free, hazard::bulk_reduce, hazard::answer_write, hazard::peer_write,
        hazard::engine_write}) {
    EXPECT_TRUE(is_write(a)) << emu::hazard::traits(a).noun;
    ++writes;
  }
  for (hazard const a :
       {hazard::tma_write, hazard::tma_store_read, hazard::wgmma_read, hazard::tma_load_read,
        hazard::tma_store_write, hazard::tma_reduce, hazard::bulk_copy_read, hazard::umma_read,
        hazard::umma_write, hazard::umma_a_read, hazard::umma_scale_read, hazard::tmem_copy_read,
        hazard::tmem_copy_write, hazard::tmem_load, hazard::tmem_store, hazard::tmem_free,
        hazard::bulk_reduce, hazard::answer_write, hazard::peer_write}) {
    EXPECT_TRUE(is_async(a)) << emu::hazard::traits(a).noun;
    ++asynchronous;
  }
  for (emu::hazard::access_traits const& t : emu::hazard::access_table) {
    writes -= is_write(t.what) ? 1 : 0;
    asynchronous -= is_async(t.what) ? 1 : 0;
  }
  EXPECT_EQ(writes, 0);
  EXPECT_EQ(asynchronous, 0);
}

// Proxy fences between the generic and the async proxy, one pair of accesses at a time.

TEST_P(Protocol, FenceFromPlainStoreToTmaStore) {
  expect("E0025", "a TMA store", []<bool Broken>(memory s, protocol_args p) {
    fill(s.a[0]);
    if (!Broken) fence_proxy_async();
    cta_sync();
    store_box(s, p);
  });
}

TEST_P(Protocol, FenceFromStmatrixToTmaStore) {
  expect<32>("E0025", "stmatrix", []<bool Broken>(memory s, protocol_args p) {
    fill(s.a[0]);
    fence_proxy_async();
    cta_sync();
    stmatrix<4>(reinterpret_cast<std::uint16_t*>(s.a[0]) + 8 * lane_id(), b32<4>{});
    if (!Broken) fence_proxy_async();
    cta_sync();
    store_box(s, p);
  });
}

TEST_P(Protocol, FenceFromCpAsyncToTmaStore) {
  expect("E0025", "cp.async", []<bool Broken>(memory s, protocol_args p) {
    for (int i = thread_id(); i < 512; i += 128) cp_async<16>(&s.a[0][2 * i], p.floats + 4 * i);
    cp_async_commit();
    cp_async_wait<0>();
    if (!Broken) fence_proxy_async();
    cta_sync();
    if (thread_id() != 0) return;
    tma_store(p.inner, s.a[0], tma_coord{64, 0});
    tma_store_commit();
    tma_store_wait_read<0>();
  });
}

TEST_P(Protocol, FenceFromCpAsyncToWgmma) {
  expect("E0025", "wgmma reads", []<bool Broken>(memory s, protocol_args p) {
    for (int i = thread_id(); i < 512; i += 128) cp_async<16>(&s.a[0][2 * i], p.floats + 4 * i);
    cp_async_commit();
    cp_async_wait<0>();
    if (!Broken) fence_proxy_async();
    cta_sync();
    accumulator<64> acc;
    wgmma_fence(acc);
    multiply(acc, operand(s.a[0]), operand(s.a[0]));
    wgmma_commit();
    wgmma_wait<0>(acc);
  });
}

TEST_P(Protocol, FenceBeforeTheWaitForCpAsyncIsTooEarly) {
  expect("E0025", "cp.async", []<bool Broken>(memory s, protocol_args p) {
    for (int i = thread_id(); i < 512; i += 128) cp_async<16>(&s.a[0][2 * i], p.floats + 4 * i);
    cp_async_commit();
    if (Broken) fence_proxy_async();
    cp_async_wait<0>();
    if (!Broken) fence_proxy_async();
    cta_sync();
    if (thread_id() != 0) return;
    tma_store(p.inner, s.a[0], tma_coord{64, 0});
    tma_store_commit();
    tma_store_wait_read<0>();
  });
}

TEST_P(Protocol, FenceFromPlainReadToTmaLoad) {
  expect("E0025", "a TMA load", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
    s.x[thread_id()] = static_cast<float>(s.a[0][thread_id()]);
    if (!Broken) fence_proxy_async();
    cta_sync();
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(1);
  });
}

TEST_P(Protocol, InitFenceBeforeARemoteArrive) {
  expect<128, 2>("E0033", "fence_mbarrier_init() after the init",
                 []<bool Broken>(memory s, protocol_args) {
                   if (thread_id() == 0) {
                     s.full[0].init(1);
                     if (!Broken) fence_mbarrier_init();
                   }
                   cluster_sync();
                   if (thread_id() == 0)
                     s.full[0].arrive_remote<scope::cluster>(1 - cluster_rank());
                   s.full[0].wait<scope::cluster>(0);
                   cluster_sync();
                 });
}

TEST_P(Protocol, InitFenceBeforeATmaLoad) {
  expect("E0033", "fence_mbarrier_init() after the init",
         []<bool Broken>(memory s, protocol_args p) {
           if (thread_id() == 0) {
             s.full[0].init(1);
             if (!Broken) fence_mbarrier_init();
           }
           cta_sync();
           load_box(p, s.a[0], s.full[0]);
           s.full[0].wait(0);
         });
}

// Atomic and relaxed stores are generic writes: TMA needs the fence after them, too.

TEST_P(Protocol, GlobalFenceFromRelaxedStoresToTmaLoad) {
  expect("E0044", "changed atomically", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    auto* const bits = reinterpret_cast<std::uint32_t*>(p.floats);
    for (int i = thread_id(); i < 4096; i += 128) store_relaxed(bits + i, 0);
    if (!Broken) fence_proxy_async_global();
    cta_sync();
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
  });
}

TEST_P(Protocol, GlobalFenceFromAtomicAddsToTmaLoad) {
  expect("E0044", "changed atomically", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    auto* const bits = reinterpret_cast<std::uint32_t*>(p.floats);
    for (int i = thread_id(); i < 4096; i += 128) atomic_add<mem_order::relaxed>(bits + i, 1);
    if (!Broken) fence_proxy_async_global();
    cta_sync();
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
  });
}

TEST_P(Protocol, SharedFenceDoesNotServeGlobalMemory) {
  expect("E0044", "changed atomically", []<bool Broken>(memory s, protocol_args p) {
    make_barriers(s);
    auto* const bits = reinterpret_cast<std::uint32_t*>(p.floats);
    for (int i = thread_id(); i < 4096; i += 128) store_release(bits + i, 0);
    if (Broken)
      fence_proxy_async();
    else
      fence_proxy_async_global();
    cta_sync();
    load_box(p, s.a[0], s.full[0]);
    s.full[0].wait(0);
  });
}

}  // namespace
}  // namespace tw::test
