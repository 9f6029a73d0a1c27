// SPDX-License-Identifier: Apache-2.0
// arch_target.cpp  Refusals of targets that lack instructions.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case target_lacks_clusters
// A kernel with a cluster barrier, built for sm_80.
// compilers: nvcc
// bad target: 80
// expect-error: [TW0301]
namespace target_lacks_clusters {
__global__ void kernel() {
#ifdef TW_FAIL
  tw::cluster_sync();
#endif
}
}  // namespace target_lacks_clusters

// case target_lacks_mbarrier_wait
// A kernel that waits for an mbarrier, built for sm_80: mbarrier.try_wait needs sm_90.
// compilers: nvcc
// bad target: 80
// expect-error: [TW0301]
// expect-no: mbarrier.try_wait
namespace target_lacks_mbarrier_wait {
__global__ void kernel() {
#ifdef TW_FAIL
  __shared__ tw::mbarrier full;
  full.wait(0);
#endif
}
}  // namespace target_lacks_mbarrier_wait

// case target_lacks_wgmma
// A kernel with wgmma built for a Blackwell target, which has none.
// compilers: nvcc
// bad target: 100f
// expect-error: [TW0301]
// expect-no: wgmma.commit_group
namespace target_lacks_wgmma {
__global__ void kernel() {
#ifdef TW_FAIL
  tw::wgmma_commit();
#endif
}
}  // namespace target_lacks_wgmma

// case wrong_target
// A kernel built for sm_90, where wgmma does not exist, instead of sm_90a.
// compilers: nvcc
// bad target: 90
// expect-error: [TW0301]
namespace wrong_target {}  // namespace wrong_target
