// SPDX-License-Identifier: Apache-2.0
// tensor_strides.cpp  A tensor in shared memory with strides that count coordinates.
// expect-error: TW0149_strides_do_not_fit_the_space_of_the_tensor
// expect-error: 2000000
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

#ifdef TW_FAIL
using t = tensor<float, "(4,8):(1@0,1@1)"_L, smem>;
#else
using t = tensor<float, "(4,8):(8,1)"_L, smem>;
#endif
static_assert(sizeof(t) > 0);
