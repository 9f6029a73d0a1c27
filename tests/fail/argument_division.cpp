// SPDX-License-Identifier: Apache-2.0
// argument_division.cpp  A run-time stride that is not known to be even.
// expect-error: TW0132_run_time_value_is_not_known_to_be_divisible
// expect-error: 1000002
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(4,2):($0,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = upcast("(4,2):(2$0,1)"_L, 2);
#endif
