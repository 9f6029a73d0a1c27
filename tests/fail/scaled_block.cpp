// SPDX-License-Identifier: Apache-2.0
// scaled_block.cpp  A block-scaled multiply with a vector length that its kind lacks.
// expect-error: [TW0313]
// compilers: g++
#include "tilewright/arch/select.hpp"

void multiply(tw::umma_desc a, tw::umma_desc b) {
#ifdef TW_FAIL
  tw::umma_scaled<tw::umma_kind::mxf8f6f4, 16>(0, a, b, 0, 0, 0, false);
#else
  tw::umma_scaled<tw::umma_kind::mxf8f6f4, 32>(0, a, b, 0, 0, 0, false);
#endif
}
