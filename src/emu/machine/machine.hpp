// SPDX-License-Identifier: Apache-2.0
// machine.hpp  The part that one OS thread emulates: live clusters of a launch, and the units that
//              their threads use.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "emu/machine/address_space.hpp"
#include "emu/machine/async_engine.hpp"
#include "emu/machine/banks.hpp"
#include "emu/machine/barriers.hpp"
#include "emu/machine/reporter.hpp"
#include "emu/machine/scheduler.hpp"
#include "emu/machine/tensor_unit.hpp"
#include "emu/machine/trace_log.hpp"
#include "emu/machine/warp_unit.hpp"
#include "tilewright/arch/emu/devices.hpp"

namespace tw::emu {

class machine {
 public:
  machine()
      : sched(*this),
        reports(*this),
        barrier(*this),
        warp(*this),
        async(*this),
        tensor(*this),
        memory(*this) {}
  machine(machine const&) = delete;
  machine& operator=(machine const&) = delete;

  /// Runs clusters handed out by `next` (a negative number: no more) until all are done.
  /// Returns the diagnoses, in the order in which they came. Ends early where `interrupted`.
  std::vector<diagnosis> run(grid const& g, device_layout const& layout, void const* params,
                             options const& o, std::function<int()> const& next, int live,
                             std::uint64_t seed, std::function<void(double)> const& macs_done,
                             hazard::global_memory* globals, bool alone,
                             std::atomic<bool> const& interrupted);

  static machine& current();

  /// The running thread has reached the kernel's end.
  [[noreturn]] void finish_thread();
  std::vector<std::unique_ptr<cluster_state>>& clusters() { return clusters_; }
  /// A cluster of the grid that has not been started, which the caller takes; -1: all have been.
  int take_cluster() const { return layout_.devices > 1 ? -1 : (*next_)(); }
  /// Clusters of one device.
  int clusters_of_device() const { return grid_.extents.count() / grid_.cluster; }
  /// The copies of the running thread's queue (copy_queues.cpp).
  void run_queue();
  /// Null: hazards are not checked.
  hazard::global_memory* globals() const { return globals_; }

  // The launch
  grid grid_;
  device_layout layout_;
  options options_;
  void const* params_ = nullptr;  // of each device, one after the other
  /// Of the kernel on a device, or on device 0 if the device has copy queues and no kernel.
  std::byte const* params_of(int device) const {
    int const with_kernel = device < layout_.devices ? device : 0;
    return static_cast<std::byte const*>(params_) +
           static_cast<std::size_t>(with_kernel) * grid_.params_bytes;
  }
  trace_log* log_ = nullptr;  // null: nothing is recorded
  statistics counts_;
  std::deque<launch_response> answers;  // to launch_cancel: what its copies read
  std::unique_ptr<bank_meter> banks_;   // null: not requested

  // Before the units: the barriers of their warps hold clocks of the clusters' checkers.
 private:
  std::vector<std::unique_ptr<cluster_state>> clusters_;

 public:
  // The units
  scheduler sched;
  reporter reports;
  barriers barrier;
  warp_unit warp;
  async_engine async;
  tensor_unit tensor;
  address_space memory;

 private:
  void drive();
  void prepare(cluster_state& c);
  void start_cluster(cluster_state& c, int id);

  std::function<int()> const* next_ = nullptr;
  int live_clusters_ = 0;
  hazard::global_memory* globals_ = nullptr;
};

/// E0001: who waits where and for which event, in at most `most_lines` lines (deadlock.cpp).
diagnosis deadlock_report(grid const& g,
                          std::vector<std::unique_ptr<cluster_state>> const& clusters,
                          int most_lines = 12);
/// E0001 for a thread t that polls at `where` while nothing else happens.
diagnosis polling_report(grid const& g, std::vector<std::unique_ptr<cluster_state>> const& clusters,
                         thread const& t, site where);
/// E0133: on several devices, who polls which word, none of which will change.
diagnosis ranks_report(std::vector<std::unique_ptr<cluster_state>> const& clusters,
                       std::uint64_t progress,
                       std::function<std::string(void const*)> const& name_of_word);
/// E0008: threads wait for registers that no other warpgroup gives up (registers.cpp).
std::optional<diagnosis> registers_report(
    std::vector<std::unique_ptr<cluster_state>> const& clusters);
/// E0075, of the first warp whose lanes wait for each other at different places.
std::optional<diagnosis> divergence_report(grid const& g, std::vector<warp_state> const& warps);
/// "the end of phase 2 (parity 0) of full[1]": what t waits for, without its CTA.
std::string what_it_waits_for(grid const& g, thread const& t);
/// "0-3, 7".
std::string ranges_text(std::vector<int> const& ids);
/// A cause of both where CTAs have not started: those that run may wait for them.
void add_residency(diagnosis& d, grid const& g, std::int64_t started, int live_ctas);
std::string name_of(thread const& t);
/// The warpgroup of which t is the first thread.
std::string warpgroup_name(thread const& t);
/// A path as a reader needs it, and a line; 0: not known.
struct source_place {
  std::string file;
  int line = 0;
};
source_place place_of(site s);
std::string text_of(site s);
/// Of the machine that runs on this OS thread: the thread of the kernel, and its CTA.
inline thread& current_thread() { return *machine::current().sched.running(); }
inline cta_state& current_cta() { return *current_thread().block; }

/// Also true of two machine addresses of one line.
bool same_place(site a, site b);
/// Of one rule at the same two places; a race has no order of them.
bool same_hazard(diagnosis const& a, diagnosis const& b);
/// A place known by the address of its machine code.
site site_of(void const* return_address);
/// "a[1]+0x20", or an offset if the kernel's shared memory is without names.
std::string object_name(grid const& g, std::uint32_t offset);
/// The object's name with " of CTA 3".
std::string object_name(grid const& g, cta_state const& c, std::uint32_t offset);

}  // namespace tw::emu
