// SPDX-License-Identifier: Apache-2.0
// tensor_rank.cpp  expect_shape without the stage mode.
// expect-error: TW0143_number_of_modes_differs
// expect-error: 3000002
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

void check(tensor<bf16, "(128,64,4):(64,1,8192)"_L, smem> const& s) {
#ifdef TW_FAIL
  expect_shape<128, 64>(s);
#else
  expect_shape<128, 64, 4>(s);
#endif
}
