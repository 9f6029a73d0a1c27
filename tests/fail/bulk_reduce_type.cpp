// SPDX-License-Identifier: Apache-2.0
// bulk_reduce_type.cpp  A maximum of floats in global memory, which the instruction does not have.
// expect-error: [TW0278]
// max lines(nvcc): 12
// max lines(g++): 14
#include "tilewright/arch/select.hpp"

using namespace tw;

#ifdef TW_FAIL
using value = float;
#else
using value = int;
#endif
TW_DEVICE void combine(value* out, value const* part) {
  bulk_reduce<reduce_op::max>(out, part, 64);
}
