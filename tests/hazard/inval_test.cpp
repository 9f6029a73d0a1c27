// SPDX-License-Identifier: Apache-2.0
// inval_test.cpp  An mbarrier ends while something is to arrive at it that no thread waits for.
#include "tests/hazard/tensor/tensor_kernels.hpp"

namespace tw::test {
namespace {

using memory = hazard_smem&;
using args = hazard_params const&;

std::uint64_t copied_words[128];

TEST_P(Hazards, E0080InvalUnderACommit) {
  expect({.code = "E0080", .object = "empty[0]", .part = "which counts a commit"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);
           if (thread_id() == 0) umma_commit(s.empty[1]);
           if (!Broken) s.empty[0].wait(0);
           s.empty[1].wait(0);
           cta_sync();
           if (thread_id() == 32) s.empty[0].inval();  // now
           give_back(d);
         });
}

TEST_P(Hazards, E0080InvalUnderACommitOfTheThread) {
  expect({.code = "E0080", .object = "empty[0]", .part = "which counts a commit"},
         []<bool Broken>(memory s, args p) {
           make_barriers(s);
           std::uint32_t const d = allocate(s);
           multiply_once(s, p, d);
           if (thread_id() == 0) {
             umma_commit(s.empty[1]);
             if (!Broken) s.empty[0].wait_relaxed(0);
             s.empty[1].wait(0);
             s.empty[0].inval();  // now
           }
           cta_sync();
           give_back(d);
         });
}

TEST_P(Hazards, E0080InvalUnderACommitOfThePeer) {
  expect<128, 2>({.code = "E0080", .object = "empty[0]", .part = "which counts a commit"},
                 []<bool Broken>(memory s, args p) {
                   make_barriers(s);
                   std::uint32_t const d = allocate(s);
                   if (cluster_rank() == 0) {
                     load_operands(s, p);
                     if (thread_id() == 0) {
                       multiply_tile(d, umma_operand(s.a[0]), umma_operand(s.b[0]));
                       umma_commit_multicast(s.empty[0], 0b11);
                     }
                     s.empty[0].wait(0);
                   } else if (!Broken) {
                     s.empty[0].wait<scope::cluster>(0);
                   }
                   cluster_sync();
                   if (cluster_rank() == 1 && thread_id() == 0) s.empty[0].inval();  // now
                   give_back(d);
                   cluster_sync();
                 });
}

TEST_P(Hazards, E0080InvalUnderAnArriveOfCopies) {
  expect({.code = "E0080", .object = "full[0]", .part = "which counts an arrive of cp.async"},
         []<bool Broken>(memory s, args) {
           make_barriers(s);
           int const t = thread_id();
           if (t == 32) {
             cp_async<8>(&s.a[0][t], copied_words + t);
             cp_async_mbarrier_arrive_noinc(s.full[0]);
             cp_async_commit();
             cp_async_wait<0>();
           }
           if (!Broken) s.full[0].wait(0);
           cta_sync();
           if (t == 0) s.full[0].inval();  // now
         });
}

TEST_P(Hazards, E0080InvalBeforeTheAnswerToARequest) {
  expect({.code = "E0080", .object = "full[0]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    if (thread_id() == 0) {
      s.full[0].arrive_expect_tx(sizeof(launch_response));
      launch_cancel(s.answer, s.full[0]);
      if (!Broken) s.full[0].wait(0);
      s.full[0].inval();  // now
    }
  });
}

/// The arrive has happened if the phase that it counts in is over, whatever its order.
TEST_P(Hazards, E0080InvalBeforeTheArriveOfThePeer) {
  expect<128, 2>({.code = "E0080", .object = "full[1]"}, []<bool Broken>(memory s, args) {
    make_barriers(s);
    bool const first = thread_id() == 0;
    if (cluster_rank() == 1 && first) s.full[1].arrive_remote_relaxed(0);
    if (cluster_rank() == 0 && !Broken) s.full[1].wait(0);
    cluster_arrive_relaxed();
    cluster_wait();
    cta_sync();
    if (cluster_rank() == 0 && first) s.full[1].inval();  // now
    cluster_sync();
  });
}

}  // namespace
}  // namespace tw::test
