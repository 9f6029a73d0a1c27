// SPDX-License-Identifier: Apache-2.0
// shape_div_extent.cpp  A shape divided by a number that neither divides nor is divided.
// expect-error: TW0124_shape_div_extent_and_divisor_do_not_divide
// expect-error: 6000004
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr tree result = shape_div(make_tree(6, 4), 4);
#else
[[maybe_unused]] constexpr tree result = shape_div(make_tree(6, 4), 12);
#endif
