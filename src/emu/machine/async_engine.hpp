// SPDX-License-Identifier: Apache-2.0
// async_engine.hpp  Work that is issued and completes later: TMA copies, wgmma groups, cp.async
//                   groups, operations of tcgen05. options::policy says when.
#pragma once

#include <functional>
#include <vector>

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

class async_engine {
 public:
  explicit async_engine(machine& m) : m_(m) {}

  void begin(std::function<void(double)> const* macs_done);
  /// Completes the oldest piece of work, or any one; false: no work is left.
  bool complete_one(bool any_order);
  /// Completes the copies of a cluster whose threads have ended.
  void drain(cluster_state& c);

  void issue(bulk_op op);           // a TMA copy
  void issue_in_group(bulk_op op);  // the same, a member of its thread's open bulk group
  /// A multicast to the CTAs of the mask (E0007).
  void to_ctas(bulk_op& op, std::uint32_t cta_mask);
  void issue_group(warpgroup_state& w);           // wgmma, committed by all 128 threads
  void issue(thread& t, tensor_op op);            // tcgen05
  void copy(thread::piece const& p, site where);  // cp.async
  void commit_copies();
  /// An arrive at b once the running thread's earlier cp.async have landed.
  void arrive_after_copies(mbarrier_state& b, bool counted, site where);
  /// Multiply-adds are done, for options::progress.
  void multiplied(double macs) {
    if (*macs_done_) (*macs_done_)(macs);
  }
  /// E0040, where options::boxes_outside requests it.
  void note_box_outside(bulk_op const& op);
  /// Registers of A whose groups have been waited for: are they what they were?
  void check_fragments(thread& t, std::uint32_t groups, site where);

 private:
  void complete(bulk_op const& op);
  void complete_group(warpgroup_state& w);
  static void land(thread::piece const& p);
  void close_copies(thread& t, mbarrier_state* arrives_at, site where);
  void land_copies(thread& t);
  /// c: whose barrier it is; issued: the phase when the copy was issued.
  void report_other_phase(cta_state const& c, mbarrier_state const& b, bulk_op const& op,
                          std::uint32_t issued);

  machine& m_;
  std::function<void(double)> const* macs_done_ = nullptr;
  std::vector<bulk_op> pending_ops_;
  std::vector<warpgroup_state*> pending_groups_;  // one entry per issued group, in order
  std::vector<thread*> pending_copies_;           // one entry per committed cp.async group
  std::vector<thread*> pending_tensor_;           // threads with unfinished tcgen05 operations
};

}  // namespace tw::emu
