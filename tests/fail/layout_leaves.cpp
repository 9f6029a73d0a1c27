// SPDX-License-Identifier: Apache-2.0
// layout_leaves.cpp  A layout of 17 leaves, one more than fits.
// expect-error: TW0102_more_leaves_than_a_layout_can_hold
// expect-error: 17000016
// max lines(nvcc): 19
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    append_mode("(2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2)"_L, "2:1"_L);
#else
[[maybe_unused]] constexpr layout result =
    append_mode("(2,2,2,2,2,2,2,2,2,2,2,2,2,2,2)"_L, "2:1"_L);
#endif
