// SPDX-License-Identifier: Apache-2.0
// bulk_test.cpp  Hazards of bulk copies without a tensor map, each beside its neighbour that has
//                none.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

alignas(16) std::uint64_t bulk_source[256];
alignas(16) std::uint64_t bulk_target[256];
alignas(16) std::uint32_t bulk_counts[64];

/// Thread 0 loads 1024 bytes to a[0]; full[0] counts them.
void load_bytes(hazard_smem& s, emu::site where = emu::site::here()) {
  if (thread_id() != 0) return;
  s.full[0].arrive_expect_tx(1024);
  tw::bulk_load(s.a[0], bulk_source, 1024, s.full[0], where);
}
/// Thread 0 stores 1024 bytes of a[0].
void store_bytes(hazard_smem& s, emu::site where = emu::site::here()) {
  if (thread_id() != 0) return;
  tw::bulk_store(bulk_target, s.a[0], 1024, where);
  tma_store_commit();
}

TEST_P(Hazards, E0026ReadBeforeTheBulkLoadHasLanded) {
  expect({.code = "E0026", .object = "a[0]", .phase = 0}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    load_bytes(s);  // earlier
    cta_sync();
    if (!Broken) s.full[0].wait(0);
    s.b[0][thread_id()] = s.a[0][thread_id()];  // now
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0025BulkStoreOfOrdinaryStoresWithoutProxyFence) {
  expect({.code = "E0025", .object = "a[0]"}, []<bool Broken>(memory s, args) {
    s.a[0][thread_id()] = 1;  // earlier
    if (!Broken) fence_proxy_async();
    cta_sync();
    store_bytes(s);  // now
    if (thread_id() == 0) tma_store_wait_read<0>();
  });
}

TEST_P(Hazards, E0028OverwriteWhileTheBulkStoreReads) {
  expect({.code = "E0028", .object = "a[0]"}, []<bool Broken>(memory s, args) {
    s.a[0][thread_id()] = 1;
    fence_proxy_async();
    cta_sync();
    store_bytes(s);  // earlier
    if (!Broken && thread_id() == 0) tma_store_wait_read<0>();
    cta_sync();
    s.a[0][thread_id()] = 2;  // now
    if (thread_id() == 0) tma_store_wait_read<0>();
  });
}

TEST_P(Hazards, E0011BulkReductionThatNoThreadCommits) {
  expect({.code = "E0011", .part = "never committed"}, []<bool Broken>(memory s, args) {
    if (thread_id() < 64) reinterpret_cast<std::uint32_t*>(s.a[0])[thread_id()] = 1;
    fence_proxy_async();
    cta_sync();
    if (thread_id() != 0) return;
    bulk_reduce<reduce_op::add>(bulk_counts, reinterpret_cast<std::uint32_t*>(s.a[0]), 64);  // now
    if (!Broken) tma_store_commit();
    tma_store_wait<0>();
  });
}

TEST_P(Hazards, E0043ReadBackBeforeTheBulkStoreHasWritten) {
  expect({.code = "E0043"}, []<bool Broken>(memory s, args) {
    s.a[0][thread_id()] = 1;
    fence_proxy_async();
    cta_sync();
    store_bytes(s);  // earlier
    if (thread_id() == 0) {
      if (Broken)
        tma_store_wait_read<0>();
      else
        tma_store_wait<0>();
    }
    cta_sync();
    s.b[0][thread_id()] = bulk_target[thread_id()];  // now
  });
}

TEST_P(Hazards, E0044BulkLoadOfWhatOrdinaryStoresWroteToGlobalMemory) {
  expect({.code = "E0044"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    bulk_source[thread_id()] = 5;  // earlier
    if (!Broken) fence_proxy_async_global();
    cta_sync();
    load_bytes(s);  // now
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0024SourceOfACopyToAPeerIsOverwritten) {
  expect<128, 2>(
      {.code = "E0024", .object = "a[0]", .part = "a bulk copy to a peer", .by_thread = true},
      []<bool Broken>(memory s, args) {
        make_barriers(s);
        int const t = thread_id(), peer = 1 - cluster_rank();
        s.a[0][t] = 1;
        fence_proxy_async();
        cta_sync();
        if (t == 0) {
          s.full[0].arrive_expect_tx(1024);
          bulk_copy_to_peer(s.b[0], s.a[0], 1024, s.full[0], peer);  // earlier
        }
        s.full[0].wait<scope::cluster>(0);
        if (!Broken) {  // the peer's barrier says that this CTA's source has been read
          if (t == 0) s.empty[0].arrive_remote(peer);
          s.empty[0].wait<scope::cluster>(0);
        }
        cta_sync();
        s.a[0][t] = 2;  // now
        cluster_sync();
      });
}

TEST_P(Hazards, E0036EndWhileACopyToAPeerReads) {
  expect<128, 2>({.code = "E0036", .object = "a[0]", .part = "a copy of a[0] to a peer"},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   int const t = thread_id(), peer = 1 - cluster_rank();
                   s.a[0][t] = 1;
                   fence_proxy_async();
                   cta_sync();
                   if (t == 0) {
                     s.full[0].arrive_expect_tx(1024);
                     bulk_copy_to_peer(s.b[0], s.a[0], 1024, s.full[0], peer);  // now
                   }
                   s.full[0].wait<scope::cluster>(0);  // of the peer's copy to here
                   if (!Broken) cluster_sync();
                 });
}

TEST_P(Hazards, E0016CopyToAPeerThatHasEnded) {
  expect<128, 2>({.code = "E0016"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    s.a[0][thread_id()] = 1;
    fence_proxy_async();
    cta_sync();
    if (cluster_rank() == 1) {
      if (thread_id() == 0) bulk_copy_to_peer(s.b[0], s.a[0], 1024, s.full[0], 0);  // now
    } else if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(1024);
      if (!Broken) s.full[0].wait(0);
    }
    if (!Broken) cluster_sync();
  });
}

/// Both CTAs add 64 numbers of a[0] to those of b[0] of CTA 0, whose full[0] counts both.
void add_at_cta_0(hazard_smem& s, emu::site where = emu::site::here()) {
  if (thread_id() != 0) return;
  if (cluster_rank() == 0) s.full[0].arrive_expect_tx(2 * 64 * 4);
  tw::bulk_reduce_to_peer<reduce_op::add>(reinterpret_cast<std::uint32_t*>(s.b[0]),
                                          reinterpret_cast<std::uint32_t const*>(s.a[0]), 64,
                                          s.full[0], 0, where);
}
void zero_sums(hazard_smem& s) {
  int const t = thread_id();
  if (t < 64) {
    reinterpret_cast<std::uint32_t*>(s.a[0])[t] = 1;
    reinterpret_cast<std::uint32_t*>(s.b[0])[t] = 0;
  }
}

TEST_P(Hazards, E0026SumsAreReadBeforeBothReductionsHaveLanded) {
  expect<128, 2>(
      {.code = "E0026", .object = "b[0]", .phase = 0, .part = "bulk reduction that changes it"},
      []<bool Broken>(memory s, args) {
        make_barriers(s);
        zero_sums(s);
        fence_proxy_async();
        cluster_sync();
        add_at_cta_0(s);  // earlier
        if (!Broken && cluster_rank() == 0) s.full[0].wait(0);
        if (cluster_rank() == 0 && thread_id() < 64)
          s.a[1][thread_id()] = reinterpret_cast<std::uint32_t*>(s.b[0])[thread_id()];  // now
        if (cluster_rank() == 0) s.full[0].wait(0);
        cluster_sync();
      });
}

TEST_P(Hazards, E0026SumsAreReadAfterOneOfTwoReductions) {
  expect<128, 2>({.code = "E0026", .object = "b[0]", .phase = 0}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    zero_sums(s);
    fence_proxy_async();
    cluster_sync();
    int const rank = cluster_rank();
    auto* const sums = reinterpret_cast<std::uint32_t*>(s.b[0]);
    if (thread_id() == 0) {
      if (rank == 0) {
        s.full[0].arrive_expect_tx(64 * 4);
        s.full[1].arrive_expect_tx(64 * 4);
      }
      bulk_reduce_to_peer<reduce_op::add>(sums, reinterpret_cast<std::uint32_t const*>(s.a[0]), 64,
                                          s.full[rank], 0);
    }
    cluster_sync();  // both were issued
    if (rank == 0) {
      s.full[0].wait(0);
      if (!Broken) s.full[1].wait(0);
      s.a[1][thread_id()] = sums[thread_id() % 64];  // now
      s.full[1].wait(0);
    }
    cluster_sync();
  });
}

TEST_P(Hazards, E0025SumsAreSetWithoutAProxyFence) {
  expect<128, 2>({.code = "E0025", .object = "b[0]", .part = "bulk reduction to a peer"},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   zero_sums(s);
                   fence_proxy_async();
                   if (thread_id() < 64)
                     reinterpret_cast<std::uint32_t*>(s.b[0])[thread_id()] = 1;  // earlier
                   if (!Broken || cluster_rank() != 0) fence_proxy_async();
                   cluster_sync();
                   add_at_cta_0(s);  // now
                   if (cluster_rank() == 0) s.full[0].wait(0);
                   cluster_sync();
                 });
}

TEST_P(Hazards, E0024SourceOfAReductionIsOverwritten) {
  expect<128, 2>({.code = "E0024", .object = "a[0]", .part = "a bulk copy to a peer"},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   zero_sums(s);
                   fence_proxy_async();
                   cluster_sync();
                   add_at_cta_0(s);  // earlier
                   if (cluster_rank() == 0) s.full[0].wait(0);
                   if (!Broken) cluster_sync();
                   if (thread_id() < 64)
                     reinterpret_cast<std::uint32_t*>(s.a[0])[thread_id()] = 2;  // now
                   cluster_sync();
                 });
}

TEST_P(Hazards, E0087SizeOfABulkCopy) {
  expect({.code = "E0087", .part = "24 bytes"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(Broken ? 24 : 32);
      bulk_load(s.a[0], bulk_source, Broken ? 24 : 32, s.full[0]);  // now
    }
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0047AddressOfABulkCopy) {
  expect({.code = "E0047", .part = "bulk_load"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(32);
      bulk_load(s.a[0], bulk_source + (Broken ? 1 : 2), 32, s.full[0]);  // now
    }
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0055BulkLoadFromSharedMemory) {
  expect({.code = "E0055", .object = "b[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(32);
      bulk_load(s.a[0], Broken ? s.b[0] : bulk_source, 32, s.full[0]);  // now
    }
    s.full[0].wait(0);
  });
}

TEST_P(Hazards, E0088ReductionThatTheTensorHasNot) {
  expect({.code = "E0088", .part = "bf16"}, []<bool Broken>(memory s, args p) {
    for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 0;
    fence_proxy_async();
    cta_sync();
    if (thread_id() != 0) return;
    constexpr reduce_op op = Broken ? reduce_op::bit_or : reduce_op::max;
    tma_reduce<op>(p.inner, s.a[0], tma_coord{0, 0});  // now
    tma_store_commit();
    tma_store_wait_read<0>();
  });
}

}  // namespace
}  // namespace tw::test
