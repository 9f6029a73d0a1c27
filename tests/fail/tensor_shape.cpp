// SPDX-License-Identifier: Apache-2.0
// tensor_shape.cpp  A tile whose modes were exchanged; both sizes are named.
// expect-error: TW0144_size_of_a_mode_differs
// expect-error: 64000128
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

void check(tensor<bf16, "(64,128):(128,1)"_L, smem> const& s) {
#ifdef TW_FAIL
  expect_shape<128, 64>(s);
#else
  expect_shape<64, 128>(s);
#endif
}
