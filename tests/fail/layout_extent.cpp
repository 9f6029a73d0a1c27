// SPDX-License-Identifier: Apache-2.0
// layout_extent.cpp  An extent of 0.
// expect-error: TW0114_extent_is_not_positive
// expect-error: 1
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_left(make_tree(4, 0));
#else
[[maybe_unused]] constexpr layout result = make_layout_left(make_tree(4, 1));
#endif
