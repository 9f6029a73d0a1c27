// SPDX-License-Identifier: Apache-2.0
// wgmma_types.cpp  A wgmma of bf16 elements with sums in f16.
// expect-error: [TW0225]
// expect-error(g++): wgmma_types<tw::elem::bf16, tw::elem::bf16, tw::elem::f16>
// max lines(g++): 14
// max lines(nvcc): 14
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr elem type = elem::bf16;
#else
constexpr elem type = elem::f16;
#endif
TW_DEVICE void multiply(accumulator<64, f16>& d, smem_desc a, smem_desc b) {
  wgmma<type, operand_major::k, operand_major::k>(d, a, b, true);
}
