// SPDX-License-Identifier: Apache-2.0
// tensor_arguments.cpp  A run-time layout with an argument too few.
// expect-error: TW0150_number_of_run_time_arguments_differs
// expect-error: 2000003
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

auto view(float* p, int m, int k) {
#ifdef TW_FAIL
  return make_tensor<row_major_view()>(p, m, k);
#else
  return make_tensor<row_major_view()>(p, m, k, k);
#endif
}
