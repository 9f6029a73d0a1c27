// SPDX-License-Identifier: Apache-2.0
// tensor_copy_type.cpp  A copy between element types.
// expect-error: TW0151_copy_between_element_types_use_transform_to_convert
// expect-error: 32000016
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using from = tensor<float, "(8):(1)"_L>;
#ifdef TW_FAIL
using to = tensor<bf16, "(8):(1)"_L>;
#else
using to = tensor<float, "(8):(1)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
