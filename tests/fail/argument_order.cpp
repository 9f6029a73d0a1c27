// SPDX-License-Identifier: Apache-2.0
// argument_order.cpp  The order of two run-time strides.
// expect-error: TW0133_order_of_run_time_strides_is_not_known
// expect-error: 1
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_like("(4,2):($0,$1)"_L);
#else
[[maybe_unused]] constexpr layout result = make_layout_like("(4,2):(8,1)"_L);
#endif
