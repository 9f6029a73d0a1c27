// SPDX-License-Identifier: Apache-2.0
// downcast_unit.cpp  Halves of elements that are nowhere adjacent.
// expect-error: TW0127_downcast_needs_one_leaf_of_stride_1
// expect-error: 1
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = downcast("(4,2):(4,2)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = downcast("(4,2):(2,1)"_L, 2);
#endif
