// SPDX-License-Identifier: Apache-2.0
// left_inverse_overlap.cpp  The left inverse of a layout that has an offset twice.
// expect-error: TW0125_left_inverse_strides_are_not_nested
// expect-error: 2000004
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = left_inverse("(4,2,2):(1,2,8)"_L);
#else
[[maybe_unused]] constexpr layout result = left_inverse("(4,2):(1,4)"_L);
#endif
