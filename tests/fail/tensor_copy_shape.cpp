// SPDX-License-Identifier: Apache-2.0
// tensor_copy_shape.cpp  A copy between tensors of different shapes.
// expect-error: TW0144_size_of_a_mode_differs
// expect-error: 4000008
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using from = tensor<float, "(8,4):(4,1)"_L>;
#ifdef TW_FAIL
using to = tensor<float, "(8,8):(8,1)"_L>;
#else
using to = tensor<float, "(8,4):(8,1)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
