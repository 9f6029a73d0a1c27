// SPDX-License-Identifier: Apache-2.0
// upcast_stride.cpp  Pairs of elements that lie 3 apart.
// expect-error: TW0126_upcast_stride_and_count_do_not_divide
// expect-error: 3000002
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(4,2):(3,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = upcast("(4,2):(4,1)"_L, 2);
#endif
