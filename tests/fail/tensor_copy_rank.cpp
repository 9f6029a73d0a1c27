// SPDX-License-Identifier: Apache-2.0
// tensor_copy_rank.cpp  A copy between tensors of different ranks.
// expect-error: TW0143_number_of_modes_differs
// expect-error: 2000001
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using from = tensor<float, "(8,4):(4,1)"_L>;
#ifdef TW_FAIL
using to = tensor<float, "(32):(1)"_L>;
#else
using to = tensor<float, "(8,4):(1,8)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
