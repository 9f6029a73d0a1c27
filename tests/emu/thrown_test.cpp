// SPDX-License-Identifier: Apache-2.0
// thrown_test.cpp  An exception on the stack of an emulated thread reaches the caller of the
//                  launch: the kernel's, or the emulator's if it gets no memory.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

/// The CTA `which` throws after a barrier; the others wait for ever.
struct throwing {
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;
  struct params {
    int which;
    bool memory;
  };
  static void run(params const& p) {
    cta_sync();
    if (p.which < 0) return;
    if (cta_id() == p.which && thread_id() == 33) {
      if (p.memory) throw std::bad_alloc();
      throw std::out_of_range("of the kernel");
    }
    for (;;) cta_sync();
  }
};

class Thrown : public testing::TestWithParam<int> {};

TEST_P(Thrown, ReachesTheCallerAndTheNextLaunchIsWhole) {
  emu::options o;
  o.os_threads = GetParam();
  for (int which : {0, 3}) {
    EXPECT_THROW(emu::run(throwing{}, 4, {which, false}, o), std::out_of_range);
    EXPECT_THROW(emu::run(throwing{}, 4, {which, true}, o), std::bad_alloc);
    EXPECT_TRUE(emu::run(throwing{}, 4, {-1, false}, o).clean());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Thrown, testing::Values(1, 3));

}  // namespace
}  // namespace tw::test
