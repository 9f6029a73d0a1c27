// SPDX-License-Identifier: Apache-2.0
// layout_overflow.cpp  A layout larger than 64-bit offsets.
// expect-error: TW0113_number_leaves_64_bits
// max lines(nvcc): 22
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    make_layout_left(make_tree(i64{1} << 40, i64{1} << 40, 2));
#else
[[maybe_unused]] constexpr layout result =
    make_layout_left(make_tree(i64{1} << 20, i64{1} << 20, 2));
#endif
