// SPDX-License-Identifier: Apache-2.0
// tensor_tmem_cell.cpp  Tensor memory with elements of 16 bits.
// expect-error: TW0148_elements_of_tensor_memory_are_cells_of_32_bits
// expect-error: 16000032
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

#ifdef TW_FAIL
using element = bf16;
#else
using element = packet<bf16, 2>;
#endif
using acc = decltype(make_tmem_tensor<element, "(128,64):(1@0,1@1)"_L>(tmem_address{}));
static_assert(size(acc::map) == 8192);
