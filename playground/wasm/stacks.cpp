// SPDX-License-Identifier: Apache-2.0
// stacks.cpp  Memory for stacks, instead of src/emu/host/stacks.cpp: without guard pages, which a
//             module cannot have. Every call of the emulator compares the stack pointer.
#include "emu/host/stacks.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace tw::emu {

stacks::stacks(std::size_t count) : count_(count) {
  memory_ = static_cast<std::byte*>(std::aligned_alloc(4096, count * stack_bytes));
  if (memory_ == nullptr) throw std::bad_alloc();
}

stacks::stacks(stacks&& o) noexcept
    : memory_(std::exchange(o.memory_, nullptr)),
      count_(std::exchange(o.count_, 0)),
      guards_(std::exchange(o.guards_, 0)) {}

stacks& stacks::operator=(stacks&& o) noexcept {
  std::swap(memory_, o.memory_);
  std::swap(count_, o.count_);
  std::swap(guards_, o.guards_);
  return *this;
}

stacks::~stacks() { std::free(memory_); }

void stacks::wipe() const {}

}  // namespace tw::emu
