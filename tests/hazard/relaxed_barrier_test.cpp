// SPDX-License-Identifier: Apache-2.0
// relaxed_barrier_test.cpp  A relaxed arrive or wait of an mbarrier orders operations of tcgen05
//                           with their fences, and no other access.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

TEST_P(Hazards, E0101RelaxedWaitAndNoFence) {
  expect({.code = "E0101", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_after()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);  // earlier
           s.empty[0].wait_relaxed(0);
           if (!Broken) tcgen05_fence_after();
           auto r = load_tile(d);  // now
           tmem_wait_load(r);
           give_back(d);
         });
}

TEST_P(Hazards, E0100RelaxedArriveAndNoFence) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_before()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           if (warp_id() == 0) {
             multiply_once(s, p, d);
             warp_sync();
             s.empty[0].wait(0);
             tcgen05_fence_after();
             auto r = load_tile(d);  // earlier
             tmem_wait_load(r);
             if (!Broken) tcgen05_fence_before();
             warp_sync();
             if (lane_id() == 0) s.full[1].arrive_relaxed();
           }
           if (thread_id() == 32) {
             s.full[0].wait(0);
             s.full[1].wait_relaxed(0);
             tcgen05_fence_after();
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
             umma_commit(s.empty[1]);
           }
           s.empty[1].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0024RelaxedArriveCarriesNoStores) {
  expect({.code = "E0024", .object = "x"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.x[0] = 1;  // earlier
      if (Broken)
        s.full[0].arrive_relaxed();
      else
        s.full[0].arrive();
    }
    s.full[0].wait(0);
    if (thread_id() == 32) s.x[1] = s.x[0];  // now
  });
}

TEST_P(Hazards, E0024RelaxedWaitBringsNoStores) {
  expect({.code = "E0024", .object = "x"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.x[0] = 1;  // earlier
      s.full[0].arrive();
    }
    if (Broken)
      s.full[0].wait_relaxed<scope::cluster>(0);
    else
      s.full[0].wait<scope::cluster>(0);
    if (thread_id() == 32) s.x[1] = s.x[0];  // now
  });
}

TEST_P(Hazards, E0026RelaxedWaitBringsNoCopiedBytes) {
  expect({.code = "E0026", .object = "a[0]"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], 0);  // earlier
    if (Broken)
      s.full[0].wait_relaxed(0);
    else
      s.full[0].wait(0);
    if (thread_id() == 32) s.x[0] = static_cast<float>(s.a[0][0]);  // now
  });
}

}  // namespace
}  // namespace tw::test
