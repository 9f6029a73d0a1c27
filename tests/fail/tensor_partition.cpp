// SPDX-License-Identifier: Apache-2.0
// tensor_partition.cpp  A thread-value layout that reaches beyond its tile.
// expect-error: TW0147_the_thread_value_layout_reaches_beyond_the_tile
// expect-error: 1920001024
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout tv = "((8,16),8):((256,1),16)"_L;
#else
constexpr layout tv = "((8,16),8):((128,1),16)"_L;
#endif
auto part(tensor<bf16, "(128,64):(64,1)"_L, smem> const& s, int thread) {
  return partition<tile(16, 64), tv>(s, thread);
}
