// SPDX-License-Identifier: Apache-2.0
// argument_index.cpp  Run-time argument 16, where there are 0 to 15.
// expect-error: TW0134_run_time_argument_out_of_range
// expect-error: 16000015
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr num result = arg(16);
#else
[[maybe_unused]] constexpr num result = arg(15);
#endif
