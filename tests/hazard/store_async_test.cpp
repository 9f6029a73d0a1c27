// SPDX-License-Identifier: Apache-2.0
// store_async_test.cpp  Hazards of stores that a peer's barrier counts, each beside its neighbour
//                       that has none.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

struct alignas(16) quarter {
  float x[4];
};
/// Each of two CTAs stores into the other.
auto const exchange_by_stores = []<bool Broken>(memory s, args) {
  make_barriers(s);
  auto* const part = reinterpret_cast<quarter*>(s.x);
  int const t = thread_id(), peer = 1 - cluster_rank();
  if (t == 0) s.full[0].arrive_expect_tx(128 * 16);
  store_async(part + t, quarter{{1, 2, 3, 4}}, s.full[0], peer);  // earlier
  if constexpr (Broken)
    s.full[0].wait(0);
  else
    s.full[0].wait<scope::cluster>(0);
  s.a[0][t] = static_cast<std::uint64_t>(part[t].x[3]);  // now
  cluster_sync();
};
TEST_P(Hazards, E0051WaitWithCtaScopeForAPeersStore) {
  expect<128, 2>({.code = "E0051",
                  .object = "x",
                  .phase = 0,
                  .part = "a wait of cluster scope for phase 0 of full[0]"},
                 exchange_by_stores);
}

TEST_P(Hazards, E0025TmaStoreOfWhatThePeerStored) {
  expect<128, 2>({.code = "E0025", .object = "a[0]", .part = "missing: a proxy fence"},
                 []<bool Broken>(memory s, args p) {
                   make_barriers(s);
                   auto* const part = reinterpret_cast<quarter*>(s.a[0]);
                   int const t = thread_id(), peer = 1 - cluster_rank();
                   if (t == 0) s.full[0].arrive_expect_tx(8192);
                   for (int i = t; i < 512; i += 128)
                     store_async(part + i, quarter{{1, 2, 3, 4}}, s.full[0], peer);  // earlier
                   s.full[0].wait<scope::cluster>(0);
                   if (!Broken) fence_proxy_async();
                   if (t == 0 && cluster_rank() == 0) {
                     tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
                     tma_store_commit();
                     tma_store_wait_read<0>();
                   }
                   cluster_sync();
                 });
}

TEST_P(Hazards, E0036StoreIntoACtaThatMayHaveEnded) {
  expect<128, 2>({.code = "E0036", .part = "a store_async to x", .by_thread = true},
                 []<bool Broken>(memory s, args) {
                   make_barriers(s);
                   auto* const part = reinterpret_cast<quarter*>(s.x);
                   int const t = thread_id(), peer = 1 - cluster_rank();
                   if (t == 0) s.full[0].arrive_expect_tx(128 * 16);
                   store_async(part + t, quarter{{1, 2, 3, 4}}, s.full[0], peer);  // now
                   if (!Broken) {
                     s.full[0].wait<scope::cluster>(0);
                     cluster_sync();
                   }
                 });
}

TEST_P(Hazards, E0024StoreIntoWhatThePeerWrote) {
  expect<128, 2>({.code = "E0024", .object = "x", .part = "x"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    auto* const part = reinterpret_cast<quarter*>(s.x);
    int const t = thread_id(), peer = 1 - cluster_rank();
    part[t].x[0] = 1;  // earlier
    if (Broken)
      cluster_arrive_relaxed();
    else
      cluster_arrive();
    cluster_wait();
    if (t == 0) s.full[0].arrive_expect_tx(128 * 16);
    store_async(part + t, quarter{{1, 2, 3, 4}}, s.full[0], peer);  // now
    s.full[0].wait<scope::cluster>(0);
    cluster_sync();
  });
}

/// With clusters of two it is exchange_by_stores that is left in peace.
TEST_P(Hazards, E0076StoreInALaunchWithoutClusters) {
  expect({.code = "E0076", .part = "without clusters"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    auto* const part = reinterpret_cast<quarter*>(s.x);
    int const t = thread_id();
    if (t == 0 && Broken) s.full[0].arrive_expect_tx(128 * 16);
    if (t == 0 && !Broken) s.full[0].arrive();
    if (Broken)
      store_async(part + t, quarter{{1, 2, 3, 4}}, s.full[0], 0);  // now
    else
      part[t] = quarter{{1, 2, 3, 4}};
    s.full[0].wait(0);
    cta_sync();
  });
}

}  // namespace
}  // namespace tw::test
