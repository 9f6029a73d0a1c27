// SPDX-License-Identifier: Apache-2.0
// swizzle_fields.cpp  A swizzle whose bits overlap: 3 bits, 2 apart.
// expect-error: TW0115_swizzle_fields_overlap_or_are_out_of_range
// expect-error: 2000003
#include "tilewright/layout/layout.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr swizzle result = make_swizzle(3, 4, 2);
#else
[[maybe_unused]] constexpr swizzle result = make_swizzle(3, 4, 3);
#endif
