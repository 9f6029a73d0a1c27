// SPDX-License-Identifier: Apache-2.0
// arch_reduce.cpp  Refusals of bulk reductions.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case bulk_reduce_to_peer_type
// A sum of floats in a peer's shared memory, which the instruction does not have.
// expect-error: [TW0278]
// max lines(nvcc): 12
// max lines(g++): 14
namespace bulk_reduce_to_peer_type {
#ifdef TW_FAIL
using value = float;
#else
using value = int;
#endif
TW_DEVICE void combine(value* own, value const* part, mbarrier& landed) {
  bulk_reduce_to_peer<reduce_op::add>(own, part, 64, landed, 0);
}
}  // namespace bulk_reduce_to_peer_type

// case bulk_reduce_type
// A maximum of floats in global memory, which the instruction does not have.
// expect-error: [TW0278]
// max lines(nvcc): 12
// max lines(g++): 14
namespace bulk_reduce_type {
#ifdef TW_FAIL
using value = float;
#else
using value = int;
#endif
TW_DEVICE void combine(value* out, value const* part) {
  bulk_reduce<reduce_op::max>(out, part, 64);
}
}  // namespace bulk_reduce_type
