// SPDX-License-Identifier: Apache-2.0
// cores_test.cpp  The emulator counts the cores that it may use, not those of the machine.
#include "tilewright/arch/emu/cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

namespace {

TEST(Cores, AreThoseThatTheProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(tw::emu::usable_cores(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(tw::emu::usable_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
