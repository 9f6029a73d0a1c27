// SPDX-License-Identifier: Apache-2.0
// emulated.hpp  The emulator as a machine for the instruction checks.
#pragma once

#include <memory>
#include <new>

#include "tests/arch/kernels/machine.hpp"
#include "tilewright/arch/select.hpp"

namespace tw::test {

class emulated {
 public:
  static constexpr target where = target::emu;

  explicit emulated(emu::options o) : options_(std::move(o)) {}

  void* upload(void const* data, std::size_t bytes) {
    memory_.emplace_back(static_cast<std::byte*>(::operator new(bytes, alignment)));
    std::memcpy(memory_.back().get(), data, bytes);
    return memory_.back().get();
  }
  void download(void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  template <class K>
  void start(extents3 ctas, typename K::params const& p, bool = false) {
    launch<K>(ctas, p, options_);
  }
  void finish() {}

 private:
  static constexpr std::align_val_t alignment{256};
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  emu::options options_;
  std::vector<std::unique_ptr<std::byte, release>> memory_;
};

}  // namespace tw::test
