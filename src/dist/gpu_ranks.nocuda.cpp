// SPDX-License-Identifier: Apache-2.0
// gpu_ranks.nocuda.cpp  Groups on GPUs in a build without CUDA.
#include "dist/nccl.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::dist {

std::int64_t group::gpu_arena_bytes(group_options const& options) {
  return bytes_of_gpu_arena(options);
}
group group::from_gpu_addresses(int, std::vector<void*> const&, group_options const&) {
  throw rejected(gpu().why_not);
}
group group::from_nccl(ncclComm_t, group_options const&, std::string const&) {
  throw rejected(gpu().why_not);
}
std::vector<group> group::virtual_ranks_on_gpu(int, group_options const&) {
  throw rejected(gpu().why_not);
}

}  // namespace tw::dist
