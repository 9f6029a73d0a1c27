// SPDX-License-Identifier: Apache-2.0
// composition_carry.cpp  Two modes of B that together leave an extent of A.
// expect-error: TW0106_composition_modes_of_B_together_leave_an_extent_of_A
// expect-error: 4000004
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,3)"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,2)"_L);
#endif
