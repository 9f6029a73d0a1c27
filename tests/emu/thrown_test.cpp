// SPDX-License-Identifier: Apache-2.0
// thrown_test.cpp  If memory runs out on the stack of an emulated thread, the caller of the launch
//                  gets std::bad_alloc, and the process goes on.
#include <gtest/gtest.h>

#include <new>

#include "tilewright/arch/select.hpp"

namespace tw::test {
namespace {

/// The CTA `which` throws after a barrier; the others wait for ever.
struct throwing {
  static constexpr int threads = 64, cluster = 1, smem_bytes = 0;
  struct params {
    int which;
  };
  static void run(params const& p) {
    cta_sync();
    if (p.which < 0) return;
    if (cta_id() == p.which && thread_id() == 33) throw std::bad_alloc();
    for (;;) cta_sync();
  }
};

class Thrown : public testing::TestWithParam<int> {};

TEST_P(Thrown, ReachesTheCallerAndTheNextLaunchIsWhole) {
  emu::options o;
  o.os_threads = GetParam();
  for (int which : {0, 3}) {
    EXPECT_THROW(emu::run(throwing{}, 4, {which}, o), std::bad_alloc);
    EXPECT_TRUE(emu::run(throwing{}, 4, {-1}, o).clean());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Thrown, testing::Values(1, 3));

}  // namespace
}  // namespace tw::test
