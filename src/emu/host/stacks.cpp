// SPDX-License-Identifier: Apache-2.0
// stacks.cpp  Maps stacks and their guard pages.
#include "emu/host/stacks.hpp"

#include <sys/mman.h>

#include <atomic>
#include <new>
#include <utility>

namespace tw::emu {

namespace {

constexpr std::size_t max_guards = 12'000;  // each makes two mappings
std::atomic<std::size_t> guards_in_process{0};

}  // namespace

stacks::stacks(std::size_t count) : count_(count) {
  void* const p = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<std::byte*>(p);
  if (guards_in_process.fetch_add(count) + count > max_guards) {
    guards_in_process.fetch_sub(count);
    return;
  }
  guards_ = count;
  for (std::size_t i = 0; i < count; ++i)
    if (mprotect(memory_ + i * stack_bytes, guard_bytes, PROT_NONE) != 0) throw std::bad_alloc();
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

stacks::~stacks() {
  if (memory_ == nullptr) return;
  munmap(memory_, count_ * stack_bytes);
  guards_in_process.fetch_sub(guards_);
}

void stacks::wipe() const {
  for (std::size_t i = 0; i < count_; ++i) wipe_stacks(lowest(i), usable_bytes);
}

}  // namespace tw::emu
