// SPDX-License-Identifier: Apache-2.0
// wgmma_major.cpp  A wgmma that would read an e4m3 operand N-major.
// expect-error: [TW0224]
// expect-error(g++): wgmma_major<tw::elem::e4m3, tw::operand_major::mn>
// max lines(g++): 14
// max lines(nvcc): 14
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr operand_major b_major = operand_major::mn;
#else
constexpr operand_major b_major = operand_major::k;
#endif
TW_DEVICE void multiply(accumulator<64>& d, smem_desc a, smem_desc b) {
  wgmma<elem::e4m3, operand_major::k, b_major>(d, a, b, true);
}
