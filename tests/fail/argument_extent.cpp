// SPDX-License-Identifier: Apache-2.0
// argument_extent.cpp  A tile that crosses a run-time extent.
// expect-error: TW0131_run_time_extent_is_cut_or_crossed
// expect-error: 4000000
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("($0,4):(1,$1)"_L, "4:1"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,$0):(1,$1)"_L, "4:1"_L);
#endif
