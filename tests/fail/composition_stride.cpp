// SPDX-License-Identifier: Apache-2.0
// composition_stride.cpp  A composition whose stride and extent do not divide; both are named.
// expect-error: TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide
// expect-error: 4000006
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = composition("(6,4):(1,8)"_L, "(3):(4)"_L);
#else
constexpr layout l = composition("(6,4):(1,8)"_L, "(3):(2)"_L);
static_assert(size(l) == 3);
#endif
