// SPDX-License-Identifier: Apache-2.0
// emu_workspace.hpp  Memory for the parts of split-K tiles and for copies, in tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "family/workspace.hpp"
#include "tests/kernel/guarded_memory.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {

/// A workspace for planning, and for launches that follow each other; its counters are zero before
/// and after each launch.
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

/// gemm_emulated() with a workspace of exactly the bytes that a launch of the plan needs, between
/// pages without access: those that it ends at, and in every other call those that it begins at.
/// Its counters are zero, the rest is NaN.
inline void emulate(gemm_plan const& plan, gemm_operands o, emu_options const& options = {}) {
  static bool at_end = false;
  at_end = !at_end;
  auto const bytes = static_cast<std::size_t>(workspace_of(plan).bytes);
  guarded const memory(bytes, at_end);
  auto const zeros = std::min(bytes, static_cast<std::size_t>(gemm_workspace_zeros));
  std::fill(memory.data() + zeros, memory.data() + bytes, std::byte{0xFF});
  o.workspace = memory.data();
  o.workspace_bytes = static_cast<std::int64_t>(bytes);
  gemm_emulated(plan, o, options);
  EXPECT_TRUE(
      std::all_of(memory.data(), memory.data() + zeros, [](auto b) { return b == std::byte{0}; }))
      << "an arrival counter is not zero after the launch of " << plan.kernel;
}

}  // namespace tw::test
