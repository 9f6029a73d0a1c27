// SPDX-License-Identifier: Apache-2.0
// target_lacks_clusters.cpp  A kernel with a cluster barrier, built for sm_80.
// compilers: nvcc
// bad target: 80
// expect-error: [TW0301]
#include "tilewright/arch/select.hpp"

__global__ void kernel() {
#ifdef TW_FAIL
  tw::cluster_sync();
#endif
}
