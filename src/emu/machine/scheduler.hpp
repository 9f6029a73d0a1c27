// SPDX-License-Identifier: Apache-2.0
// scheduler.hpp  Which emulated thread runs next: fibers of the live clusters, taken warp by warp.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <random>
#include <vector>

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

/// Is the code of a kernel running? Only then is an ordinary access the kernel's (hook.cpp). The
/// linker keeps one copy of each inline function, so the engine may run std::vector code of a
/// kernel's unit, whose accesses are announced too: they are the engine's own.
extern thread_local constinit bool in_kernel;

/// Number of kernels that run in the process. If it is 0, in_kernel need not be read: in a shared
/// library, taking the address of a thread-local variable costs a call.
extern constinit std::atomic<int> kernels_running;

/// Below it, the running fiber has left the part of its stack that is the kernel's.
extern thread_local constinit std::byte const* stack_limit;
[[noreturn]] void stack_overflow();

/// Every function that a kernel calls begins with one. Only these calls switch fibers,
/// so the fiber that goes on finds in_kernel false and leaves its own call.
class engine_call {
 public:
  engine_call() : was_(in_kernel) {
    in_kernel = false;
    if (was_ && static_cast<std::byte const*>(__builtin_frame_address(0)) < stack_limit)
      stack_overflow();
  }
  ~engine_call() { in_kernel = was_; }
  engine_call(engine_call const&) = delete;
  engine_call& operator=(engine_call const&) = delete;

 private:
  bool const was_;
};

class scheduler {
 public:
  explicit scheduler(machine& m) : m_(m) {}

  /// Of a launch with `warps` warps, which ends if another OS thread sets `interrupted`.
  void begin(std::size_t warps, std::uint64_t seed, bool alone,
             std::atomic<bool> const& interrupted);
  /// Runs `drive` on a separate stack until it ends or leave_for_good() is called. Throws what
  /// `drive` has thrown, and std::bad_alloc that a thread of the kernel has thrown.
  void run(void (*drive)());
  /// The thread may run from the kernel's entry on, on stack `index`.
  void start(thread& t, stacks const& of_cluster, std::size_t index);
  /// Runs ready threads until the last thread of a cluster has ended. To be called by `drive`.
  void resume();

  // Called in a thread of the kernel.
  void block(wait_kind kind, void const* object, std::uint32_t value, site where);
  /// Another thread runs. `polled`: the word that the running thread reads again and again, if any.
  void yield(site where, void const* polled = nullptr);
  /// The running thread has ended: another one goes on.
  [[noreturn]] void finished(thread& t, bool last_of_cluster);

  void wake(thread* t);
  void wake_all(std::vector<thread*>& waiters);
  /// Ends the run, from any fiber. The fibers of the kernel are abandoned as they stand; their
  /// stacks are used again by the next launch. Nothing is thrown through the kernel's frames.
  [[noreturn]] void leave_for_good();
  /// Something that another thread may wait or poll for has happened.
  void progressed() { ++progress_; }

  /// Null: no thread of the kernel is running, but the loop that starts them.
  thread* running() const { return running_; }
  bool stopped() const { return stopped_; }
  /// No other OS thread runs clusters of this launch.
  bool alone() const { return alone_; }
  std::mt19937_64& random() { return random_; }
  std::vector<warp_state>& warps() { return warps_; }
  warp_state& warp_of(thread const& t) { return warps_[static_cast<std::size_t>(t.warp_index)]; }

 private:
  void set_ready(thread const& t, bool ready);
  thread* pick();
  /// For a thread that polls: the lanes after it, then the other warps, then the lanes before it.
  /// Two lanes that poll would else run in turns for ever.
  thread* pick_after(thread const& t);
  /// From the next warp on; with random_warps from any.
  thread* pick_warp();
  thread* pick_or_stop();
  bool time_out_try_waits();
  [[noreturn]] void stop_stuck(diagnosis d);
  void switch_to(thread* t);  // null: the loop that starts threads
  static void thread_main();
  static void driver_main();

  machine& m_;
  std::vector<warp_state> warps_;
  std::vector<std::uint64_t> ready_warps_;  // bitmap over warps_
  int current_warp_ = 0;
  thread* running_ = nullptr;
  fiber host_;    // who called run()
  fiber driver_;  // the loop that starts threads
  std::unique_ptr<std::byte[]> driver_stack_;
  void (*drive_)() = nullptr;
  std::exception_ptr thrown_;  // by a fiber: nothing is thrown from one stack to another
  std::mt19937_64 random_;
  bool alone_ = true;
  std::atomic<bool> const* interrupted_ = nullptr;
  bool stopped_ = false;
  std::uint64_t progress_ = 0;     // arrivals and completions so far
  std::uint64_t waits_ = 0;        // calls of block
  std::int64_t polls_ = 0;         // calls of backoff without progress
  std::uint64_t yield_stamp_ = 0;  // progress_ when the polling without progress began
  std::chrono::steady_clock::time_point polling_since_;
};

}  // namespace tw::emu
