// SPDX-License-Identifier: Apache-2.0
// tensor_order_test.cpp  Missing waits and fences of tcgen05, each beside its neighbour that lacks
//                        none.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

TEST_P(Hazards, E0100LoadWithoutAWaitForTheCommit) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "a wait for the mbarrier"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);  // earlier
           if constexpr (Broken)
             cta_sync();
           else
             s.empty[0].wait(0);
           tcgen05_fence_after();
           auto r = load_tile(d);  // now
           tmem_wait_load(r);
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0101NoFenceAfterTheWait) {
  expect({.code = "E0101", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_after()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);  // earlier
           s.empty[0].wait(0);
           if (!Broken) tcgen05_fence_after();
           auto r = load_tile(d);  // now
           tmem_wait_load(r);
           give_back(d);
         });
}

/// Two tiles into one accumulator; warps 0 to 3 read the first one in between.
template <bool WaitLoad, bool FenceBefore>
void read_between(memory s, args p, emu::site first, emu::site second) {
  make_barriers(s);
  std::uint32_t const d = allocate(s);
  multiply_once(s, p, d);
  s.empty[0].wait(0);
  tcgen05_fence_after();
  auto r = load_tile(d, first);
  if constexpr (WaitLoad) tmem_wait_load(r);
  if constexpr (FenceBefore) tcgen05_fence_before();
  cta_sync();
  if (thread_id() == 0) {
    tcgen05_fence_after();
    multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]), false, second);
    umma_commit(s.empty[1]);
  }
  if constexpr (!WaitLoad) tmem_wait_load();
  s.empty[1].wait(0);
  give_back(d);
}

TEST_P(Hazards, E0100AccumulatorGivenBackWithoutAWaitForTheLoad) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tmem_wait_load()"},
         []<bool Broken>(memory s, args p) {
           read_between<!Broken, true>(s, p, emu::site::here(),  // earlier
                                       emu::site::here());       // now
         });
}

TEST_P(Hazards, E0101AccumulatorGivenBackWithoutAFence) {
  expect({.code = "E0101", .object = "tensor memory of CTA 0", .part = "tcgen05_fence_before()"},
         []<bool Broken>(memory s, args p) {
           read_between<true, !Broken>(s, p, emu::site::here(),  // earlier
                                       emu::site::here());       // now
         });
}

TEST_P(Hazards, E0100MultiplyOfAThatIsStillBeingStored) {
  expect({.code = "E0100", .object = "tensor memory of CTA 0", .part = "tmem_wait_store()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s, 128);
           std::uint32_t const a = tmem_at(d, 0, tensor_columns);
           load_operands(s, p);
           tmem_store<tmem_shape::l32x32b, 8>(tmem_at(a, 32 * warp_id(), 0), {});  // earlier
           if (!Broken) tmem_wait_store();
           tcgen05_fence_before();
           cta_sync();
           if (thread_id() == 0) {
             tcgen05_fence_after();
             umma_ts<umma_kind::f16>(d, a, umma_operand(s.b[0]), tensor_idesc, false);  // now
             umma_commit(s.empty[0]);
           }
           if (Broken) tmem_wait_store();
           s.empty[0].wait(0);
           give_back(d, 128);
         });
}

TEST_P(Hazards, E0102FirstMultiplyAdds) {
  expect({.code = "E0102", .object = "tensor memory of CTA 0", .part = "accumulate = false"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (thread_id() == 0) {
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]), Broken);  // now
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0109TwoLanesIssue) {
  expect({.code = "E0109", .object = "tensor memory of CTA 0", .part = "elect_one()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (warp_id() == 0) warp_sync();
           if (thread_id() < (Broken ? 2 : 1)) {
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now earlier
             umma_commit(s.empty[thread_id()]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

/// In a GEMM whose loads count on the even CTA's barriers the odd CTA never gets so far: there the
/// first report is E0001 (the mutant tensor_gemm_pair/both-ctas-issue).
TEST_P(Hazards, E0109BothCtasOfAPairIssue) {
  expect<128, 2>(
      {.code = "E0109", .object = "tensor memory of CTA", .part = "of the pair"},
      []<bool Broken>(memory s, args p) {
        constexpr std::uint32_t idesc =
            umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = 64, .m = 128}.bits();
        make_barriers(s);
        if (warp_id() == 0) tmem_alloc<2>(&s.tensor_at, tensor_columns);
        cluster_sync();
        std::uint32_t const d = s.tensor_at;
        umma_desc const a = umma_operand(s.a[0]), b = umma_operand(s.b[0]);
        load_operands(s, p);
        cluster_sync();
        if (thread_id() == 0 && (Broken || cluster_rank() == 0)) {
          umma<umma_kind::f16, 2>(d, a, b, idesc, false);  // now earlier
          umma_commit_multicast<2>(s.empty[0], 0b11);
        }
        s.empty[0].wait<scope::cluster>(0);
        cluster_sync();
        if (warp_id() == 0) tmem_dealloc<2>(d, tensor_columns);
      });
}

TEST_P(Hazards, E0112StageFilledAgainWhileTheMultiplyReads) {
  expect({.code = "E0112", .object = "a[0]", .part = "umma_commit()"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);  // earlier
           if (thread_id() == 0) {
             if (!Broken) s.empty[0].wait(0);
             s.full[1].arrive_expect_tx(8192);
             tma_load(s.a[0], p.inner, s.full[1], tma_coord{0, 0});  // now
             s.full[1].wait(0);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0025OperandWrittenByOrdinaryStores) {
  expect({.code = "E0025", .object = "a[0]", .part = "tcgen05.mma reads"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           cta_sync();
           for (int i = thread_id(); i < 1024; i += 128) s.a[0][i] = 0;  // earlier
           if (!Broken) fence_proxy_async();
           cta_sync();
           if (thread_id() == 0) {
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0026MultiplyWithoutAWaitForTheLoad) {
  expect({.code = "E0026", .object = "a[0]", .phase = 0, .part = "tcgen05.mma reads"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           if (thread_id() == 0) {
             s.full[0].arrive_expect_tx(16384);
             tma_load(s.b[0], p.inner, s.full[0], tma_coord{0, 0});
             tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});  // earlier
             if (!Broken) s.full[0].wait(0);
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
             umma_commit(s.empty[0]);
             s.full[0].wait(0);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0037SwizzleOfAMultiplysOperand) {
  expect({.code = "E0037", .object = "a[0]", .part = "tcgen05.mma reads"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (thread_id() == 0) {
             auto const mode = Broken ? swizzle_mode::b64 : swizzle_mode::b128;
             multiply_tile(d, umma_operand(s.a[0], 1024, mode), umma_operand(s.b[0]));  // now
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

TEST_P(Hazards, E0039OperandsOfDifferentK) {
  expect({.code = "E0039", .object = "a[0]", .part = "tcgen05.mma multiplies"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           if (thread_id() == 0) {
             s.full[0].arrive_expect_tx(16384);
             tma_load(s.a[0], p.inner, s.full[0], tma_coord{Broken ? 64 : 0, 0});
             tma_load(s.b[0], p.inner, s.full[0], tma_coord{0, 0});
             s.full[0].wait(0);
             multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));  // now
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

/// CUTLASS's order has no fences: a barrier that releases and acquires stands for them.
TEST_P(Hazards, AcquireStandsForTheFences) {
  emu::options o = scheduled(GetParam());
  auto const body = []<bool>(memory s, args p) {
    read_between<true, false>(s, p, emu::site::here(), emu::site::here());
  };
  EXPECT_TRUE((run_body<false>(body, o)).has("E0101"));
  o.tensor_fences = emu::tensor_order::acquire;
  emu::report const r = run_body<false>(body, o);
  EXPECT_TRUE(r.clean()) << r.text();
}

}  // namespace
}  // namespace tw::test
