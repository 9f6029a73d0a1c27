// SPDX-License-Identifier: Apache-2.0
// guarded_memory.hpp  Memory between pages without access: an access beyond it ends the program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

namespace tw::test {

/// `bytes` bytes, zero, between two pages without access. at_end: they end where the second page
/// begins, else they begin where the first ends.
class guarded {
 public:
  guarded(std::size_t bytes, bool at_end) {
    auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::size_t const inner = (bytes + page - 1) / page * page;
    mapped_ = inner + 2 * page;
    void* const p = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(p);
    if (inner > 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    data_ = at_end ? base_ + page + inner - bytes : base_ + page;
  }
  /// A copy of `bytes` bytes, between two such pages.
  guarded(void const* from, std::size_t bytes, bool at_end) : guarded(bytes, at_end) {
    std::memcpy(data_, from, bytes);
  }
  ~guarded() { munmap(base_, mapped_); }
  guarded(guarded const&) = delete;
  guarded& operator=(guarded const&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte *base_, *data_;
  std::size_t mapped_;
};

}  // namespace tw::test
