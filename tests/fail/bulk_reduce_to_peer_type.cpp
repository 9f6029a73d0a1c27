// SPDX-License-Identifier: Apache-2.0
// bulk_reduce_to_peer_type.cpp  A sum of floats in a peer's shared memory, which the instruction
//                               does not have.
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
TW_DEVICE void combine(value* own, value const* part, mbarrier& landed) {
  bulk_reduce_to_peer<reduce_op::add>(own, part, 64, landed, 0);
}
