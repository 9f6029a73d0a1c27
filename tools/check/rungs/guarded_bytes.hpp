// SPDX-License-Identifier: Apache-2.0
// guarded_bytes.hpp  Memory of a kernel with a margin on both sides, whose accesses are reported.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "tilewright/arch/emu/launch.hpp"

namespace ladder {

/// A copy of `content` that `o` names as an array of the kernel: others are E0052.
class guarded_bytes {
 public:
  guarded_bytes(std::vector<std::byte> const& content, tw::emu::options& o)
      : memory_(static_cast<std::byte*>(::operator new(content.size() + 2 * margin, alignment))) {
    std::ranges::copy(content, data());
    o.arrays.push_back({data(), content.size(), margin});
  }
  std::byte* data() const { return memory_.get() + margin; }

 private:
  static constexpr std::size_t margin = 64 * 1024;
  static constexpr std::align_val_t alignment{1024};
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, release> memory_;
};

}  // namespace ladder
