// SPDX-License-Identifier: Apache-2.0
// enqueued_sets.hpp  The order in which virtual ranks on one device enqueue flags and waits.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "tilewright/kernel/ranks/arena.hpp"

namespace tw::dist {

/// Virtual ranks on one device: a launch that waits for a flag is enqueued after the copy that sets
/// it. Streams may share a queue of the device, and loading a kernel may wait for all launches: a
/// launch that waits for a later one would stop both.
class enqueued_sets {
 public:
  void add(rank_flag kind, int from, int to) {
    std::scoped_lock const lock(mutex_);
    ++sets_[static_cast<int>(kind)][from][to];
    changed_.notify_all();
  }
  /// Returns when rank `from` has enqueued a set for each wait of rank `to`, or has refused call
  /// `call` (has_refused()), when the group breaks, or after the time: the launch then reports it.
  void wait(rank_flag kind, int from, int to, std::uint32_t call, std::uint32_t refused,
            double timeout_s) {
    std::unique_lock lock(mutex_);
    std::uint64_t const need = ++waits_[static_cast<int>(kind)][from][to];
    std::uint64_t const& have = sets_[static_cast<int>(kind)][from][to];
    auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
    auto const broken = [&] {
      if (stopped_) return true;
      for (failure_record const* const r : reports_)
        if (std::atomic_ref(r->whole).load(std::memory_order_acquire) != 0) return true;
      return false;
    };
    while (have < need && !has_refused(refusals_[from], call, refused) && !broken() &&
           std::chrono::steady_clock::now() < end)
      changed_.wait_for(lock, std::chrono::milliseconds(5));
  }
  void refuse(int rank, std::uint64_t refusals) {
    std::scoped_lock const lock(mutex_);
    refusals_[rank] = refusals;
    changed_.notify_all();
  }
  void stop() {
    std::scoped_lock const lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  void add_report(failure_record const* r) {
    std::scoped_lock const lock(mutex_);
    reports_.push_back(r);
  }
  void remove_report(failure_record const* r) {
    std::scoped_lock const lock(mutex_);
    std::erase(reports_, r);
  }

 private:
  using counts = std::uint64_t[rank_flags][arena_ranks][arena_ranks];
  std::mutex mutex_;
  std::condition_variable changed_;
  counts sets_ = {}, waits_ = {};
  std::uint64_t refusals_[arena_ranks] = {};
  std::vector<failure_record const*> reports_;
  bool stopped_ = false;
};

}  // namespace tw::dist
