// SPDX-License-Identifier: Apache-2.0
// complement_overlap.cpp  The complement of a layout whose strides are not nested.
// expect-error: TW0108_complement_stride_is_not_a_multiple_of_what_is_covered
// expect-error: 2000004
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("(4,3):(1,2)"_L, 24);
#else
[[maybe_unused]] constexpr layout result = complement("(2,3):(1,2)"_L, 24);
#endif
