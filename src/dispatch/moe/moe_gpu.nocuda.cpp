// SPDX-License-Identifier: Apache-2.0
// moe_gpu.nocuda.cpp  The launches of kernel/moe on a GPU in a build without CUDA.
#include "dispatch/moe/moe.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

void moe_sort(moe_problem const& p, moe_operands const& o, cudaStream_t) {
  check_moe(moe_launch::sort, p, o);
  throw rejected(gpu().why_not);
}
void moe_gather(moe_problem const& p, moe_operands const& o, cudaStream_t) {
  check_moe(moe_launch::gather, p, o);
  throw rejected(gpu().why_not);
}
void moe_combine(moe_problem const& p, moe_operands const& o, cudaStream_t) {
  check_moe(moe_launch::combine, p, o);
  throw rejected(gpu().why_not);
}

}  // namespace tw
