// SPDX-License-Identifier: Apache-2.0
// complement_swizzled.cpp  The complement of a swizzled layout.
// expect-error: TW0116_operation_is_not_defined_for_a_swizzled_layout
// expect-error: 3000000
// max lines(nvcc): 16
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("Sw<3,0,3> o 0 o (8,8):(8,1)"_L, 128);
#else
[[maybe_unused]] constexpr layout result = complement("(8,8):(8,1)"_L, 128);
#endif
