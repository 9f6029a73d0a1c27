// SPDX-License-Identifier: Apache-2.0
// argument_product.cpp  Compact strides of two run-time extents, which are a product of the two.
// expect-error: TW0130_product_of_two_run_time_arguments
// expect-error: 1
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_left("(4,$0,$1,2):(1,4,0,0)"_L.shape);
#else
[[maybe_unused]] constexpr layout result = make_layout_left("(4,$0):(1,4)"_L.shape);
#endif
