// SPDX-License-Identifier: Apache-2.0
// dist_virtual.cu  Groups of virtual ranks on one GPU. Exit 0 done, 1 wrong, 77 no GPU.
#include <cstdio>
#include <cstdlib>

#include "tests/gpu/dist/dist_gated_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"

int main(int argc, char** argv) {
  using namespace tw::dist::test;
  // For the replays of graphs. CUDA has not started yet.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  if (!tw::gpu().usable) {
    std::printf("%s\n", to_string(tw::gpu().why_not).c_str());
    return 77;
  }
  reference_threads = static_cast<int>(std::thread::hardware_concurrency());
  testing::InitGoogleTest(&argc, argv);
  int result = 0;
  for (int const ranks : {1, 2, 3, 4, 8}) {
    world.ranks = ranks;
    world.device_of.assign(static_cast<std::size_t>(ranks), 0);
    world.make = [ranks](tw::dist::group_options const& o) {
      return tw::dist::group::virtual_ranks_on_gpu(ranks, o);
    };
    std::printf("%d virtual ranks\n", ranks);
    result = RUN_ALL_TESTS();
    if (result != 0) break;
  }
  return result;
}
