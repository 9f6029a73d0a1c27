// SPDX-License-Identifier: Apache-2.0
// target_lacks_mbarrier_wait.cpp  A kernel that waits for an mbarrier, built for sm_80, which has
//                                 no mbarrier.try_wait.
// compilers: nvcc
// bad target: 80
// expect-error: [TW0301]
// expect-no: mbarrier.try_wait
#include "tilewright/arch/select.hpp"

__global__ void kernel() {
#ifdef TW_FAIL
  __shared__ tw::mbarrier full;
  full.wait(0);
#endif
}
