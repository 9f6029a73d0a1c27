// SPDX-License-Identifier: Apache-2.0
// arch_limits_test.cpp  The limits that the emulator has are those of the described Hopper SM.
#include <gtest/gtest.h>

#include "tilewright/arch/limits.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/device/sm_limits.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw::test {
namespace {

TEST(ArchLimits, AreThoseOfComputeCapability90) {
  sm_limits const& sm = *find_sm_limits(90);
  EXPECT_EQ(max_sm_threads, sm.max_warps * warp_threads);
  EXPECT_EQ(max_sm_ctas, sm.max_ctas);
  EXPECT_EQ(sm_smem_bytes, sm.smem_bytes);
  EXPECT_EQ(max_smem_bytes, sm.max_smem_bytes_per_cta);
  EXPECT_EQ(reserved_cta_smem_bytes, sm.reserved_smem_bytes_per_cta);
  EXPECT_EQ(max_cta_threads, sm_limits::max_threads_per_cta);
  EXPECT_EQ(max_cluster_ctas, sm_limits::max_non_portable_cluster);
  EXPECT_EQ(sm80_max_smem_bytes, find_sm_limits(80)->max_smem_bytes_per_cta);
  EXPECT_EQ(h100_sms, known_device("h100_sxm").sm_count);
  EXPECT_EQ(tmem_columns, find_sm_limits(100)->tensor_columns());
}

/// PTX ISA, "tcgen05.alloc": a power of two from 32 on.
TEST(ArchLimits, AnAllocationOfTensorMemoryIsTheLeastThatHoldsTheColumns) {
  for (int used = 1; used <= tmem_columns; ++used) {
    int const columns = tmem_allocation(used);
    EXPECT_GE(columns, used);
    EXPECT_EQ(columns & (columns - 1), 0) << used;
    EXPECT_GE(columns, least_tmem_columns);
    EXPECT_TRUE(columns == least_tmem_columns || columns / 2 < used) << used;
  }
}

}  // namespace
}  // namespace tw::test
