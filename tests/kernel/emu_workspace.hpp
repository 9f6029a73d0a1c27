// SPDX-License-Identifier: Apache-2.0
// emu_workspace.hpp  Memory for the parts of split-K tiles, in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tilewright/problem/gemm.hpp"

namespace tw::test {

/// Memory for the parts of split-K tiles; its counters are zero before and after each launch.
class emu_workspace {
 public:
  emu_workspace() : bytes_(std::size_t{16} << 20, std::byte{0}) {}
  void give(gemm_operands& o) {
    auto const address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    begin_ = (256 - address % 256) % 256;
    o.workspace = bytes_.data() + begin_;
    o.workspace_bytes = static_cast<std::int64_t>(bytes_.size() - begin_);
  }
  void expect_zero() const {
    auto const* const at = bytes_.data() + begin_;
    EXPECT_TRUE(std::all_of(at, at + gemm_workspace_zeros, [](auto b) {
      return b == std::byte{0};
    })) << "an arrival counter is not zero after the launch";
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

}  // namespace tw::test
