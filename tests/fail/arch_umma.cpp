// SPDX-License-Identifier: Apache-2.0
// arch_umma.cpp  Refusals of tcgen05 and tensor memory.
#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_memory.hpp"

using namespace tw;

// case scaled_block
// A block-scaled multiply with a vector length that its kind lacks.
// expect-error: [TW0313]
// compilers: g++
namespace scaled_block {
void multiply(tw::umma_desc a, tw::umma_desc b) {
#ifdef TW_FAIL
  tw::umma_scaled<tw::umma_kind::mxf8f6f4, 16>(0, a, b, 0, 0, 0, false);
#else
  tw::umma_scaled<tw::umma_kind::mxf8f6f4, 32>(0, a, b, 0, 0, 0, false);
#endif
}
}  // namespace scaled_block

// case tmem_count
// A load of tensor memory whose count is no power of two.
// expect-error: [TW0312]
// max lines(g++): 12
namespace tmem_count {
#ifdef TW_FAIL
tw::tmem_words<tw::tmem_shape::l32x32b, 48> loaded;
#else
tw::tmem_words<tw::tmem_shape::l32x32b, 32> loaded;
#endif
}  // namespace tmem_count
