// SPDX-License-Identifier: Apache-2.0
// launch_kernels.hpp  A correct kernel that hands out its work by cluster launch control, and ways
//                     to break it: they test the emulator.
#pragma once

#include "tilewright/arch/select.hpp"

namespace tw::mutants {

enum class launch_mutation : int {
  none,
  answer_not_awaited,
  request_after_failure,
  bytes_not_expected,
  leader_expects_alone,
  no_fence_before_request,
  no_barrier_before_request,
  cta_of_failed_answer,
};

struct launch_params {
  int* done;  // how often each CTA's work was done
  launch_mutation broken;
};

/// Clusters of 2 request the work of clusters that have not started.
struct cancelled_work {
  using bug = launch_mutation;
  static constexpr int threads = 32, cluster = 2;
  struct smem {
    launch_response answer;
    mbarrier answered;
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = launch_params;

  TW_DEVICE static bool is(params const& p, bug b) { return p.broken == b; }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    bool const leads = thread_id() == 0;
    if (leads) {
      s.answered.init(1);
      fence_mbarrier_init();
    }
    cluster_sync();
    int work = cta_id();
    for (std::uint32_t phase = 0;; phase ^= 1U) {
      if (leads) red_add<mem_order::relaxed, scope::gpu>(&p.done[work], 1);
      if (leads) expect_answer(p, s);
      if (!is(p, bug::no_barrier_before_request)) cluster_sync();  // all have read the last answer
      if (leads && cluster_rank() == 0) launch_cancel_multicast(s.answer, s.answered);
      if (!is(p, bug::answer_not_awaited)) s.answered.wait(phase);
      bool const more = launch_cancelled(s.answer);
      if (!more && !is(p, bug::cta_of_failed_answer)) break;
      work = launch_cancelled_cta(s.answer).x + cluster_rank();
      if (!is(p, bug::no_fence_before_request)) fence_proxy_async();
    }
    if (leads && cluster_rank() == 0 && is(p, bug::request_after_failure))
      launch_cancel(s.answer, s.answered);
    cluster_sync();
  }
  TW_DEVICE static void expect_answer(params const& p, smem& s) {
    if (is(p, bug::bytes_not_expected) || (is(p, bug::leader_expects_alone) && cluster_rank() != 0))
      s.answered.arrive();
    else
      s.answered.arrive_expect_tx(sizeof(launch_response));
  }
};

}  // namespace tw::mutants
