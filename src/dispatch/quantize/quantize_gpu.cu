// SPDX-License-Identifier: Apache-2.0
// quantize_gpu.cu  Compiles and starts kernel/quantize/quantize.hpp.
#include <cuda_runtime_api.h>

#include "dispatch/quantize/quantize.hpp"
#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/quantize/quantize.hpp"

namespace tw {
namespace {

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  cudaGetLastError();  // a failed call must not be reported again by the next check
  throw rejected({"TW0506", what, cudaGetErrorString(e), "success", ""});
}

}  // namespace

void quantize(quantize_problem const& p, quantize_operands const& o, cudaStream_t stream) {
  quantize_params q = quantize_params_of(p, o);
  gpu_info const& here = gpu();
  if (!here.usable) throw rejected(here.why_not);
  int const ctas = quantize_ctas(q, here.sms);
  if (q.pass == quantize_pass::amax) {
    must(cudaMemsetAsync(q.amax, 0, sizeof *q.amax, stream), "workspace of a quantisation");
    must(launch<quantize_kernel>(ctas, q, stream, false), "launch that finds the largest value");
    q.pass = quantize_pass::values;
  }
  must(launch<quantize_kernel>(ctas, q, stream, false), "launch that quantises");
}

}  // namespace tw
