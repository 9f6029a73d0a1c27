// SPDX-License-Identifier: Apache-2.0
// tensor_texts_test.cpp  The missing step in diagnoses of tcgen05; commits of threads that have
//                        issued nothing.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

/// Warps 0 to 3 load a tile and tell warp 4, which multiplies the next one into it.
TEST_P(Hazards, E0100WaitForTheLoadAfterTheArrive) {
  expect<160>({.code = "E0100", .object = "tensor memory of CTA 0", .part = "after its arrive"},
              []<bool Broken>(memory s, args p) {
                make_barriers(s);
                std::uint32_t const d = allocate(s);
                multiply_once(s, p, d);
                cta_sync();
                s.empty[0].wait(0);
                tcgen05_fence_after();
                if (warp_id() < 4) {
                  auto r = load_tile(d);  // earlier
                  if (!Broken) tmem_wait_load(r);
                  tcgen05_fence_before();
                  named_barrier_arrive(1, 160);
                  if (Broken) tmem_wait_load(r);
                } else {
                  named_barrier_sync(1, 160);
                  tcgen05_fence_after();
                  if (elect_one()) {
                    s.full[0].wait(0);
                    multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
                    umma_commit(s.empty[1]);
                  }
                  warp_sync();
                }
                s.empty[1].wait(0);
                give_back(d);
              });
}

TEST_P(Hazards, E0100WaitForTheStoreAfterTheArrive) {
  expect<160>({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tmem_wait_store() by"},
              []<bool Broken>(memory s, args p) {
                make_barriers(s);
                std::uint32_t const d = allocate(s, 128);
                std::uint32_t const a = tmem_at(d, 0, tensor_columns);
                load_operands(s, p);
                if (warp_id() < 4) {
                  tmem_store<tmem_shape::l32x32b, 8>(tmem_at(a, 32 * warp_id(), 0), {});  // earlier
                  if (!Broken) tmem_wait_store();
                  tcgen05_fence_before();
                  named_barrier_arrive(1, 160);
                  if (Broken) tmem_wait_store();
                } else {
                  named_barrier_sync(1, 160);
                  tcgen05_fence_after();
                  if (elect_one()) {
                    s.full[0].wait(0);
                    umma_desc const b = umma_operand(s.b[0]);
                    umma_ts<umma_kind::f16>(d, a, b, tensor_idesc, false);  // now
                    umma_commit(s.empty[0]);
                  }
                  warp_sync();
                }
                s.empty[0].wait(0);
                give_back(d, 128);
              });
}

/// A commit stands for tcgen05.fence::before_thread_sync, for loads and stores too.
TEST_P(Hazards, E0100CommitCarriesTheStoresThatWereWaitedFor) {
  expect<160>({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tmem_wait_store()"},
              []<bool Broken>(memory s, args) {
                make_barriers(s);
                std::uint32_t const d = allocate(s);
                if (warp_id() == 0) {
                  tmem_store<tmem_shape::l32x32b, 1>(d, {{7}});  // earlier
                  if (!Broken) tmem_wait_store();
                  if (lane_id() == 0) umma_commit(s.empty[0]);
                  if (Broken) tmem_wait_store();
                }
                if (warp_id() == 4) {
                  s.empty[0].wait(0);
                  tcgen05_fence_after();
                  auto r = tmem_load<tmem_shape::l32x32b, 1>(d);  // now
                  tmem_wait_load(r);
                }
                give_back(d);
              });
}

TEST_P(Hazards, E0102LoadOfAllLanesOfHalfATile) {
  expect({.code = "E0102", .object = "tensor memory of CTA 0", .part = "M = 64"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);
           s.empty[0].wait(0);
           tcgen05_fence_after();
           if constexpr (Broken) {
             auto r = tmem_load<tmem_shape::l32x32b, 32>(tmem_at(d, 32 * warp_id(), 0));  // now
             tmem_wait_load(r);
           } else {
             auto r = load_tile(d);
             tmem_wait_load(r);
           }
           give_back(d);
         });
}

TEST_P(Hazards, E0100AccumulatorsThatOverlap) {
  expect({.code = "E0100",
          .object = "tensor memory of CTA 0",
          .part = "this one takes columns 32-95 (M = 64, N = 64), the earlier one columns 0-63"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s, 128);
           load_operands(s, p);
           if (thread_id() == 0) {
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // earlier
             multiply_tile(d + (Broken ? 32 : 64), umma_operand(s.a[0]),    // now
                           umma_operand(s.b[0]));
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d, 128);
         });
}

/// Tiles whose K is 0 come in any place, for one thread that multiplies and for two in turns.
TEST_P(Hazards, ATileWithoutMultipliesIsCommittedToo) {
  auto const body = []<bool>(memory s, args p) {
    make_barriers(s);
    std::uint32_t const d = allocate(s);
    load_operands(s, p);
    cta_sync();
    for (std::uint32_t tile = 0; tile < 4; ++tile) {
      bool const empty = tile == 0 || tile == 3;
      if (thread_id() == (tile % 2 == 0 ? 0 : 32)) {
        tcgen05_fence_after();
        if (!empty) multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));
        umma_commit(s.empty[0]);
      }
      s.empty[0].wait(tile & 1U);
      tcgen05_fence_after();
      if (!empty) {
        auto r = load_tile(d);
        tmem_wait_load(r);
      }
      tcgen05_fence_before();
      cta_sync();
    }
    give_back(d);
  };
  emu::report const r = run_body<false>(body, scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

/// The stage is filled again after a commit of a thread that has issued nothing.
TEST_P(Hazards, E0111StageReleasedByACommitOfAnotherThread) {
  expect({.code = "E0111", .object = "empty[1]", .part = "that the same thread has issued"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);
           warp_sync();
           if (thread_id() == (Broken ? 1 : 0)) umma_commit(s.empty[1]);  // now
           if (thread_id() == 32) {
             s.empty[1].wait(0);
             s.full[1].arrive_expect_tx(8192);
             tma_load(s.a[0], p.inner, s.full[1], tma_coord{0, 0});
             s.full[1].wait(0);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

}  // namespace
}  // namespace tw::test
