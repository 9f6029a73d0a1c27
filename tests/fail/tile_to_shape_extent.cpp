// SPDX-License-Identifier: Apache-2.0
// tile_to_shape_extent.cpp  A shape that blocks of 8 rows do not fill.
// expect-error: TW0118_shape_is_not_filled_by_whole_blocks
// expect-error: 100000008
// max lines(nvcc): 13
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = tile_to_shape("(8,64):(64,1)"_L, make_shape(100, 64));
#else
[[maybe_unused]] constexpr layout result = tile_to_shape("(8,64):(64,1)"_L, make_shape(128, 64));
#endif
