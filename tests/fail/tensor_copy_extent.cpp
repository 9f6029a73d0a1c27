// SPDX-License-Identifier: Apache-2.0
// tensor_copy_extent.cpp  A copy of a whole matrix whose extents are known at run time.
// expect-error: TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile
// expect-error: 2000000
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

void move(float const* p, int m, int k, fragment<float, "(4,8):(8,1)"_L>& to) {
  auto const a = gmem_view(p, m, k, k);
#ifdef TW_FAIL
  copy(a, to);
#else
  copy(local_tile<tile(4, 8)>(a, 0, 0), to);
#endif
}
