// SPDX-License-Identifier: Apache-2.0
// composition_extent.cpp  A tile of 6 in extents of 4: the tile would be cut.
// expect-error: TW0105_composition_extent_of_B_is_not_divisible_by_extent_of_A
// expect-error: 6000004
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "6:1"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "8:1"_L);
#endif
