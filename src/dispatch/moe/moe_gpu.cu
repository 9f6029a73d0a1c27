// SPDX-License-Identifier: Apache-2.0
// moe_gpu.cu  Compiles and starts the kernels of kernel/moe.
#include <cuda_runtime_api.h>

#include "dispatch/moe/moe.hpp"
#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/moe/rows.hpp"
#include "tilewright/kernel/moe/sort.hpp"

namespace tw {
namespace {

template <class Kernel>
void start(typename Kernel::params const& q, cudaStream_t stream, char const* what) {
  gpu_info const& here = gpu();
  if (!here.usable) throw rejected(here.why_not);
  cudaError_t const e = launch<Kernel>(Kernel::ctas(q), q, stream, false);
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the next check
  throw rejected({"TW0506", what, cudaGetErrorString(e), "success", ""});
}

}  // namespace

void moe_sort(moe_problem const& p, moe_operands const& o, cudaStream_t stream) {
  start<moe_sort_kernel>(sort_params_of(p, o), stream, "launch that sorts pairs by expert");
}
void moe_gather(moe_problem const& p, moe_operands const& o, cudaStream_t stream) {
  start<moe_gather_kernel>(gather_params_of(p, o), stream, "launch that gathers rows");
}
void moe_combine(moe_problem const& p, moe_operands const& o, cudaStream_t stream) {
  start<moe_combine_kernel>(combine_params_of(p, o), stream, "launch that adds rows of pairs");
}

}  // namespace tw
