// SPDX-License-Identifier: Apache-2.0
// argument_number.cpp  The size of a layout whose extent is known at run time only.
// expect-error: TW0129_run_time_argument_where_the_algebra_needs_a_number
// expect-error: 1
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr i64 result = size("(4,$0):(8,1)"_L);
#else
[[maybe_unused]] constexpr i64 result = size("(4,8):(8,1)"_L);
#endif
