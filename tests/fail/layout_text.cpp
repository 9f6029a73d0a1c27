// SPDX-License-Identifier: Apache-2.0
// layout_text.cpp  A layout whose text has a hole.
// expect-error: TW0101_text_is_not_a_layout_at_position
// max lines(g++): 11
// max lines(nvcc): 22
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = "(4,8:(8,1)"_L;
#else
constexpr layout l = "(4,8):(8,1)"_L;
static_assert(l(1, 2) == 10);
#endif
