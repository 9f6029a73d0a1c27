// SPDX-License-Identifier: Apache-2.0
// texts_test.cpp  The missing step in diagnoses whose code alone would lead astray, and the line of
//                 the kernel in diagnoses around a function above the instructions.
#include <cstddef>

#include "tests/hazard/tensor/tensor_kernels.hpp"
#include "tilewright/atom/execute.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

std::uint64_t copied_words[128];

/// Warpgroup 0 multiplies two stages, which are one place; thread 128 fills it for the second time.
TEST_P(Hazards, E0026WgmmaThatIsCommittedAfterItsStageIsReleased) {
  expect<160>(
      {.code = "E0026", .object = "a[0]", .phase = 1, .part = "missing: wgmma_commit() after"},
      []<bool Broken>(memory s, args p) {
        make_barriers(s);
        if (thread_id() == 128) {
          for (std::uint32_t turn = 0; turn < 2; ++turn) {
            s.empty[0].wait(turn ^ 1U);
            s.full[0].arrive_expect_tx(8192);
            tma_load(s.a[0], p.inner, s.full[0], tma_coord{0, 0});  // earlier
          }
        }
        if (warp_id() == 4) return;
        accumulator<64> acc;
        for (std::uint32_t turn = 0; turn < 2; ++turn) {
          s.full[0].wait(turn);
          wgmma_fence(acc);
          multiply(acc, operand(s.a[0]), operand(s.a[0]));  // now
          if (!Broken || turn == 1) wgmma_commit();
          wgmma_wait<0>(acc);
          named_barrier_sync(1, 128);
          if (thread_id() == 0) s.empty[0].arrive();
        }
      });
}

/// Functions above the instructions pass on the place of their caller.
TEST_P(Hazards, E0031GemmOfATiledMmaIsNamedByTheKernelsLine) {
  expect(
      {.code = "E0031", .object = "accumulator of warpgroup 0", .part = "wgmma_fence(accumulator)"},
      []<bool Broken>(memory s, args p) {
        static constexpr tiled_mma mma = make_tiled_mma(
            find_mma("mma.sm90.m64n64k16.f32.bf16.bf16.ss"), make_layout(make_shape(1, 1, 1)));
        static constexpr layout tile =
            tile_to_shape(smem_atom(operand_major::k, smem_swizzle::b128, 16), make_shape(64, 64));
        accumulators<mma, 64, 64> sums;
        make_barriers(s);
        load(s, p, s.a[0], 0);
        s.full[0].wait(0);
        auto const a = make_tensor<tile>(make_smem_ptr<1024>(reinterpret_cast<bf16*>(s.a[0])));
        if (!Broken) sums(0, 0, 0) = 0;
        wgmma_fence(sums.part[0][0]);
        if (Broken) sums(0, 0, 0) = 0;  // earlier
        gemm<mma>(a, a, sums, false);   // now
        wgmma_commit();
        wgmma_wait<0>(sums.part[0][0]);
      });
}

/// B has two groups of 8 rows: the second one is taken from where the barriers lie.
constexpr std::uint32_t to_barriers = offsetof(hazard_smem, full);
constexpr std::uint32_t barriers_from_b = to_barriers - offsetof(hazard_smem, b);

TEST_P(Hazards, E0020OperandThatReachesAnMbarrier) {
  expect({.code = "E0020", .object = "a[0]", .part = "reaches the mbarrier"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           accumulator<16> acc;
           wgmma_fence(acc);
           smem_desc const b = operand(s.a[0], Broken ? to_barriers : 1024);
           wgmma<elem::bf16, operand_major::k, operand_major::k>(acc, operand(s.a[0]), b,  // now
                                                                 false);
           wgmma_commit();
           wgmma_wait<0>(acc);
         });
}

/// Beyond the end of shared memory: the first report, before those of what lies on the way.
TEST_P(Hazards, E0020OperandThatLeavesSharedMemory) {
  expect({.code = "E0020", .part = "operand A"}, []<bool Broken>(memory s, args p) {
    make_barriers(s);
    load(s, p, s.a[0], 0);
    s.full[0].wait(0);
    accumulator<64> acc;
    wgmma_fence(acc);
    multiply(acc, operand(s.a[0], Broken ? 16384 : 1024), operand(s.a[0]));  // now
    wgmma_commit();
    wgmma_wait<0>(acc);
  });
}

TEST_P(Hazards, E0029OperandThatLeavesItsTile) {
  expect({.code = "E0029", .object = "a[1]", .part = "the operand begins in a[0]"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           load(s, p, s.a[0], 0);
           s.full[0].wait(0);
           accumulator<64> acc;
           wgmma_fence(acc);
           multiply(acc, operand(s.a[0], Broken ? 2048 : 1024), operand(s.a[0]));  // now
           wgmma_commit();
           wgmma_wait<0>(acc);
         });
}

TEST_P(Hazards, E0103OperandOfTcgen05ThatReachesAnMbarrier) {
  expect({.code = "E0103", .object = "b[0]", .part = "reaches the mbarrier"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           load_operands(s, p);
           if (thread_id() == 0) {
             constexpr std::uint32_t idesc =
                 umma_idesc{.d_format = 1, .a_format = 1, .b_format = 1, .n = 16, .m = 64}.bits();
             umma_desc const b = umma_operand(s.b[0], Broken ? barriers_from_b : 1024);
             umma<umma_kind::f16>(d, umma_operand(s.a[0]), b, idesc, false);  // now
             umma_commit(s.empty[0]);
           }
           s.empty[0].wait(0);
           give_back(d);
         });
}

/// A tile without work comes first: commits and waits for groups of nothing.
TEST_P(Hazards, CommitsOfNothing) {
  emu::report const r = run_body<false>(
      []<bool>(memory s, args p) {
        make_barriers(s);
        accumulator<64> acc;
        for (std::uint32_t tile = 0; tile < 2; ++tile) {
          bool const empty = tile == 0;
          if (!empty) {
            load(s, p, s.a[0], 0);
            s.full[0].wait(0);
            cp_async<8>(&s.b[0][thread_id()], copied_words + thread_id());
            wgmma_fence(acc);
            multiply(acc, operand(s.a[0]), operand(s.a[0]));
          }
          cp_async_commit();
          wgmma_commit();
          cp_async_wait<0>();
          wgmma_wait<0>(acc);
          fence_proxy_async();
          cta_sync();
          if (thread_id() != 0) continue;
          if (!empty) tma_store(p.inner, s.a[0], tma_coord{0, 0});
          tma_store_commit();
          tma_store_wait_read<0>();
        }
      },
      scheduled(GetParam()));
  EXPECT_TRUE(r.clean()) << r.text();
}

TEST_P(Hazards, E0036RelaxedBarrierAsTheLastAct) {
  expect<128, 2>({.code = "E0036", .object = "x", .part = "cluster_arrive_relaxed() at"},
                 []<bool Broken>(memory s, args) {
                   s.x[thread_id()] = 1.0F;
                   cluster_sync();
                   int const peer = 1 - static_cast<int>(cluster_rank());
                   float const word = *dsmem(&s.x[thread_id()], peer);  // now
                   if (Broken)
                     cluster_arrive_relaxed();
                   else
                     cluster_arrive();
                   cluster_wait();
                   if (word != 1.0F) s.x[0] = word;
                 });
}

}  // namespace
}  // namespace tw::test
