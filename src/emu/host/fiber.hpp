// SPDX-License-Identifier: Apache-2.0
// fiber.hpp  A thread of a kernel: a separate stack, and the switch from one to another without
//            the operating system. The only place that uses Boost.Context.
#pragma once

#include <cstddef>

#include "emu/host/fiber_stack.hpp"

namespace tw::emu {

/// A context of execution. One that was never started stands for the code that first leaves it.
class fiber {
 public:
  /// entry() runs at the first switch to this fiber and must not return. The stack is
  /// [lowest, lowest + bytes); its upper `unused` bytes stay free. A fiber that has started may be
  /// abandoned and started anew.
  void start(std::byte* lowest, std::size_t bytes, std::size_t unused, void (*entry)());

  /// Leaves `from`, which is running, for `to`. Returns when something switches to `from` again.
  static void switch_to(fiber& from, fiber& to);

  /// Leaves `from`, which is running and to which nothing switches again, for `to`.
  [[noreturn]] static void leave(fiber& from, fiber& to);

  /// The lowest address that code of this fiber may use; null: the operating system's stack.
  std::byte const* lowest() const { return lowest_; }

 private:
  void* context_ = nullptr;
  void (*entry_)() = nullptr;
  std::byte const* lowest_ = nullptr;
  fiber_stack stack_;

  friend struct fiber_switch;
};

}  // namespace tw::emu
