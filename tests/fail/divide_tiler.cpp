// SPDX-License-Identifier: Apache-2.0
// divide_tiler.cpp  Three tilers for a layout of two modes.
// expect-error: TW0111_tiler_has_more_modes_than_the_layout
// expect-error: 3000002
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = zipped_divide("(4,8):(8,1)"_L, tile(2, 2, 2));
#else
[[maybe_unused]] constexpr layout result = zipped_divide("(4,8):(8,1)"_L, tile(2, 2));
#endif
