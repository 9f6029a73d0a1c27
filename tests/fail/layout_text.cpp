// SPDX-License-Identifier: Apache-2.0
// layout_text.cpp  A layout whose text has a hole.
// expect-error: TW0101_text_is_not_a_layout_at_position
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout l = "(4,8:(8,1)"_L;
#else
constexpr layout l = "(4,8):(8,1)"_L;
#endif
static_assert(l(1, 2) == 10);
