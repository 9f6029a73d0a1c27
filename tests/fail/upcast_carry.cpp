// SPDX-License-Identifier: Apache-2.0
// upcast_carry.cpp  Two modes that together leave a wide element.
// expect-error: TW0128_upcast_modes_together_leave_a_wide_element
// expect-error: 4000004
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(2,2):(2,2)"_L, 4);
#else
[[maybe_unused]] constexpr layout result = upcast("(2,2):(1,2)"_L, 4);
#endif
