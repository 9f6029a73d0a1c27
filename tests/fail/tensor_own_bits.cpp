// SPDX-License-Identifier: Apache-2.0
// tensor_own_bits.cpp  A swizzled part cut so that its leaves share offset bits.
// expect-error: TW0146_this_cut_of_a_swizzled_part_shares_offset_bits_cut_before_slicing
// expect-error: 1000000
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

using stages = tensor<bf16, "Sw<3,3,3> o 0 o (192,64,2):(64,1,12288)"_L, smem>;
auto part(stages const& s) {
#ifdef TW_FAIL
  return local_tile<tile(12, 64)>(s(_, _, 1), 0, 0);
#else
  return local_tile<tile(12, 64)>(s, 0, 0, 1);
#endif
}
