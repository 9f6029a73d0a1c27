// SPDX-License-Identifier: Apache-2.0
// tmem_count.cpp  A load of tensor memory whose count is no power of two.
// expect-error: [TW0312]
#include "tilewright/arch/tensor_memory.hpp"

#ifdef TW_FAIL
tw::tmem_words<tw::tmem_shape::l32x32b, 48> loaded;
#else
tw::tmem_words<tw::tmem_shape::l32x32b, 32> loaded;
#endif
