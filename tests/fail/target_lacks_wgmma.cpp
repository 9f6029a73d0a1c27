// SPDX-License-Identifier: Apache-2.0
// target_lacks_wgmma.cpp  A kernel with wgmma built for a Blackwell target, which has none.
// compilers: nvcc
// bad target: 100f
// expect-error: [TW0301]
// expect-no: wgmma.commit_group
#include "tilewright/arch/select.hpp"

__global__ void kernel() {
#ifdef TW_FAIL
  tw::wgmma_commit();
#endif
}
