// SPDX-License-Identifier: Apache-2.0
// copies_test.cpp  Hazards of cp.async that an mbarrier counts, and of the life of an mbarrier,
//                  each beside its neighbour that has none.
#include "tests/hazard/expect.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

std::uint64_t source[256];

/// full[0] of 128 arrivals.
void make_wide_barrier(hazard_smem& s) {
  if (thread_id() == 0) {
    s.full[0].init(128);
    fence_mbarrier_init();
  }
  cta_sync();
}

TEST_P(Hazards, E0045CopyAfterTheArriveThatCountsCopies) {
  expect({.code = "E0045", .object = "a[0]"}, []<bool Broken>(memory s, args) {
    make_wide_barrier(s);
    int const t = thread_id();
    if (!Broken) cp_async<8>(&s.a[0][t], source + t);
    cp_async_mbarrier_arrive_noinc(s.full[0]);
    if (Broken) cp_async<8>(&s.a[0][t], source + t);  // earlier
    s.full[0].wait(0);
    s.b[0][t] = s.a[0][127 - t];  // now
    cp_async_commit();
    cp_async_wait<0>();
  });
}

TEST_P(Hazards, E0045OrdinaryArriveDoesNotCountCopies) {
  expect({.code = "E0045", .object = "a[0]"}, []<bool Broken>(memory s, args) {
    make_wide_barrier(s);
    int const t = thread_id();
    cp_async<8>(&s.a[0][t], source + t, 4);  // earlier
    if (Broken)
      s.full[0].arrive();
    else
      cp_async_mbarrier_arrive_noinc(s.full[0]);
    s.full[0].wait(0);
    s.b[0][t] = s.a[0][127 - t];  // now
  });
}

TEST_P(Hazards, E0045FewerArrivalsThanThreadsThatCopy) {
  expect({.code = "E0045", .object = "a[0]", .part = "counts 96 arrivals"},
         []<bool Broken>(memory s, args) {
           if (thread_id() == 0) {
             s.full[0].init(Broken ? 96 : 128);
             fence_mbarrier_init();
           }
           cta_sync();
           int const t = thread_id();
           cp_async<8>(&s.a[0][t], source + t);  // earlier
           cp_async_mbarrier_arrive_noinc(s.full[0]);
           cta_sync();
           s.full[0].wait(0);
           s.b[0][t] = s.a[0][127 - t];  // now
         });
}

TEST_P(Hazards, E0003TooManyCopyArrives) {
  expect<128, 2>({.code = "E0003", .object = "full[0]", .by_thread = false},
                 []<bool Broken>(memory s, args) {
                   make_wide_barrier(s);
                   int const t = thread_id();
                   cp_async<8>(&s.a[0][t], source + t);
                   if (t == 0) s.full[0].expect_tx(8);
                   cta_sync();
                   for (int i = 0; i < (Broken && t == 0 ? 2 : 1); ++i)
                     cp_async_mbarrier_arrive_noinc(s.full[0]);  // now
                   cp_async_commit();
                   cp_async_wait<0>();
                   cta_sync();
                   if (t == 0) store_async(&s.b[0][0], std::uint64_t{1}, s.full[0], cluster_rank());
                   s.full[0].wait<scope::cluster>(0);
                 });
}

TEST_P(Hazards, E0082MoreValidBytesThanCopied) {
  expect({.code = "E0082", .part = "9 of them are valid"}, []<bool Broken>(memory s, args) {
    cp_async<8>(&s.a[0][thread_id()], source + thread_id(), Broken ? 9 : 8);  // now
    cp_async_commit();
    cp_async_wait<0>();
  });
}

TEST_P(Hazards, E0080InvalWhileOthersMayStillWait) {
  expect({.code = "E0080", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_wide_barrier(s);
    s.full[0].arrive();
    s.full[0].wait(0);
    if (!Broken) cta_sync();
    if (thread_id() == 0) s.full[0].inval();  // now
  });
}

TEST_P(Hazards, E0080InvalBeforeTheCopyIsKnownToHaveLanded) {
  expect({.code = "E0080", .object = "full[0]"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], 0);
    if (!Broken) s.full[0].wait(0);
    cta_sync();
    if (thread_id() == 0) s.full[0].inval();  // now
    cta_sync();
    if (Broken) return;
    if (thread_id() == 0) s.full[0].init(1);  // another life
  });
}

TEST_P(Hazards, E0081UseAfterInval) {
  expect({.code = "E0081", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() != 0) return;
    s.full[0].inval();  // earlier
    if (!Broken) s.full[0].init(1);
    s.full[0].arrive();  // now
  });
}

TEST_P(Hazards, E0057DataOverABarrierThatLives) {
  expect({.code = "E0057", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() != 0) return;
    if (!Broken) s.full[0].inval();
    s.full[0].word = 7;  // now
  });
}

TEST_P(Hazards, E0024DataOverAnInvalidatedBarrierUnordered) {
  expect({.code = "E0024", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) s.full[0].inval();  // earlier
    if (!Broken) cta_sync();
    if (thread_id() == 32) s.full[0].word = 7;  // now
  });
}

TEST_P(Hazards, E0019ArriveForNoThread) {
  expect({.code = "E0019", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_wide_barrier(s);
    if (thread_id() == 0) s.full[0].arrive(Broken ? 0 : 128);  // now
  });
}

TEST_P(Hazards, E0003ArriveForTooMany) {
  expect({.code = "E0003", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_wide_barrier(s);
    if (thread_id() == 0) s.full[0].arrive(Broken ? 129 : 128);  // now
  });
}

/// In the eager schedule nothing but the order decides: no fence between cp.async and TMA.
TEST_P(Hazards, E0025TmaStoreOfCopiesThatABarrierCounted) {
  expect({.code = "E0025", .object = "a[0]"}, []<bool Broken>(memory s, args p) {
    make_wide_barrier(s);
    int const t = thread_id();
    for (int i = t; i < 1024; i += 128) cp_async<8>(&s.a[0][i], source + i % 256);  // earlier
    cp_async_mbarrier_arrive_noinc(s.full[0]);
    s.full[0].wait(0);
    if (!Broken) fence_proxy_async_all();
    cta_sync();
    if (t != 0) return;
    tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
    tma_store_commit();
    tma_store_wait_read<0>();
  });
}

/// A thread that copies nothing waits for all copies, and executes one fence for them.
TEST_P(Hazards, E0025CopiesThatAnotherThreadPassesOn) {
  expect({.code = "E0025", .object = "a[0]", .part = "a thread that has waited for the copy"},
         []<bool Broken>(memory s, args p) {
           int const t = thread_id();
           if (t == 0) {
             s.full[0].init(96);
             s.full[1].init(1);
             fence_mbarrier_init();
           }
           cta_sync();
           if (t < 96) {
             for (int i = t; i < 1024; i += 96)
               cp_async<8>(&s.a[0][i], source + i % 256);  // earlier
             cp_async_mbarrier_arrive_noinc(s.full[0]);
           } else if (t == 96) {
             s.full[0].wait(0);
             if (!Broken) fence_proxy_async();
             s.full[1].arrive();
           } else if (t == 127) {
             s.full[1].wait(0);
             tma_store(p.inner, s.a[0], tma_coord{0, 0});  // now
             tma_store_commit();
             tma_store_wait_read<0>();
           }
         });
}

}  // namespace
}  // namespace tw::test
