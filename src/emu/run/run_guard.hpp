// SPDX-License-Identifier: Apache-2.0
// run_guard.hpp  Ends a run whose kernel crashes, calls abort, throws, overflows its stack or
//                computes for too long, and says where in the kernel that was. Signal handlers are
//                installed while a launch runs; a signal that does not come from a kernel goes to
//                the handler before.
#pragma once

#include <csignal>
#include <ctime>
#include <optional>

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

class run_guard {
 public:
  /// time_limit_seconds: processor time of this OS thread; 0: none.
  run_guard(machine& m, bool catch_crashes, double time_limit_seconds);
  ~run_guard();
  run_guard(run_guard const&) = delete;
  run_guard& operator=(run_guard const&) = delete;

  /// The signal that has ended the run, after the kernel's fibers have been left; empty: none has.
  std::optional<diagnosis> incident() const;

  /// Ends the run of the calling fiber with E0060. Works on the stack of the signal handlers: the
  /// fiber's has no room for a report. Returns if no guard is active.
  static void leave_overflowing();
  /// Ends the run of the calling fiber with E0059: its kernel ends the process. Returns if no
  /// guard is active.
  static void leave_exiting(int status);

 private:
  static void on_signal(int signal, siginfo_t* info, void* context);
  void seen(int signal, void* address, void* context);
  std::string meaning() const;

  machine& m_;
  double const limit_;
  bool const catch_crashes_;
  run_guard* const outer_;
  std::unique_ptr<std::byte[]> stack_;
  stack_t stack_before_ = {};
  bool has_timer_ = false;
  timer_t timer_ = {};
  void (*terminate_before_)() = nullptr;
  std::unique_ptr<std::byte[]> exceptions_before_;

  static constexpr int max_frames = 48;
  int signal_ = 0;
  std::optional<int> exit_status_;  // of a process that the kernel would end
  bool overflowing_ = false;        // the fiber has left too little of its stack
  void* address_ = nullptr;
  void* frames_[max_frames] = {};
  int frame_count_ = 0;
  thread const* who_ = nullptr;
  char exception_[160] = {};
};

}  // namespace tw::emu
