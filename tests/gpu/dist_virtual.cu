// SPDX-License-Identifier: Apache-2.0
// dist_virtual.cu  Groups of virtual ranks on one GPU. Exit 0 done, 1 wrong, 77 no GPU.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/gpu/dist_cases.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::dist::test {
namespace {

/// Codes of the refusals of a process without the variables that virtual ranks need.
int refusals_without_variables() {
  if (!gpu().usable) return 77;
  rejection const r = refusal_of([] { group::virtual_ranks_on_gpu(4); });
  rejection const few = refusal_of([] { group::virtual_ranks_on_gpu(2); });
  bool const right = r.code == "TW0910" && has(r, "CUDA_DEVICE_MAX_CONNECTIONS") &&
                     few.code == "TW0910" && has(few, "CUDA_MODULE_LOADING");
  if (!right) std::printf("WRONG: %s; %s\n", to_string(r).c_str(), to_string(few).c_str());
  return right ? 0 : 1;
}

}  // namespace
}  // namespace tw::dist::test

int main(int argc, char** argv) {
  using namespace tw::dist::test;
  // CUDA reads its variables when it starts: in this process it has not started yet.
  unsetenv("CUDA_MODULE_LOADING");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  pid_t const child = fork();
  if (child == 0) _exit(refusals_without_variables());
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;

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
