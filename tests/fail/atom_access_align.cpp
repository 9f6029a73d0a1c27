// SPDX-License-Identifier: Apache-2.0
// atom_access_align.cpp  ldmatrix of rows that are 132 bytes apart.
// expect-error: TW0161_access_is_not_aligned_to_its_width
// expect-error: 132000016
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout rows = "(64,64):(66,1)"_L;
#else
constexpr layout rows = "(64,64):(72,1)"_L;
#endif
constexpr layout map = natural_map(ldmatrix_access(4), rows, 16);
[[maybe_unused]] constexpr warp_access first = access_of(ldmatrix_access(4), rows, 16, map, 0);
