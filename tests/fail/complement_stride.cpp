// SPDX-License-Identifier: Apache-2.0
// complement_stride.cpp  The complement of a layout that runs backwards.
// expect-error: TW0109_stride_must_be_a_positive_integer_here
// expect-error: -1000000
// max lines(nvcc): 19
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("4:-1"_L, 24);
#else
[[maybe_unused]] constexpr layout result = complement("4:1"_L, 24);
#endif
