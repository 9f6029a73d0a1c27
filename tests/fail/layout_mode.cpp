// SPDX-License-Identifier: Apache-2.0
// layout_mode.cpp  Mode 2 of a layout that has modes 0 and 1.
// expect-error: TW0112_there_is_no_such_mode
// expect-error: 2000002
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = mode("(4,8):(8,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = mode("(4,8):(8,1)"_L, 1);
#endif
