// SPDX-License-Identifier: Apache-2.0
// stacks.hpp  Memory for the stacks of a cluster's threads, side by side.
//
// Below each stack lies a page that cannot be accessed, while the process has few of these pages:
// Linux limits the number of mappings (vm.max_map_count, 65530 by default). Large launches rely on
// the other check alone: every call of the emulator compares the stack pointer (engine_call).
#pragma once

#include <cstddef>

#include "emu/host/fiber_stack.hpp"

namespace tw::emu {

/// Of one thread, guard page included.
inline constexpr std::size_t stack_bytes = bytes_per_stack;
inline constexpr std::size_t guard_bytes = 4096;
/// The part of a thread's stack that the emulator itself needs, for a report.
inline constexpr std::size_t engine_stack_bytes = 16 * 1024;

// Stacks at equal page offsets would share the same few cache sets: 33 ns a switch instead of 9.
inline constexpr std::size_t stagger_bytes = 192;
inline constexpr std::size_t stagger_steps = 61;

class stacks {
 public:
  stacks() = default;
  explicit stacks(std::size_t count);
  stacks(stacks const&) = delete;
  stacks& operator=(stacks const&) = delete;
  stacks(stacks&& o) noexcept;
  stacks& operator=(stacks&& o) noexcept;
  ~stacks();

  /// The lowest address of stack i that may be used.
  std::byte* lowest(std::size_t i) const { return memory_ + i * stack_bytes + guard_bytes; }
  static constexpr std::size_t usable_bytes = stack_bytes - guard_bytes;
  /// Bytes that every thread has for its kernel's variables.
  static constexpr std::size_t kernel_bytes =
      usable_bytes - engine_stack_bytes - (stagger_steps - 1) * stagger_bytes;
  bool holds(void const* address) const {
    auto const distance = static_cast<std::byte const*>(address) - memory_;
    return distance >= 0 && static_cast<std::size_t>(distance) < count_ * stack_bytes;
  }
  /// Does the address lie below a stack, in the page that cannot be accessed?
  bool is_guard(void const* address) const {
    return holds(address) &&
           static_cast<std::size_t>(static_cast<std::byte const*>(address) - memory_) %
                   stack_bytes <
               guard_bytes;
  }
  /// They are about to be used anew.
  void wipe() const;

 private:
  std::byte* memory_ = nullptr;
  std::size_t count_ = 0, guards_ = 0;
};

}  // namespace tw::emu
