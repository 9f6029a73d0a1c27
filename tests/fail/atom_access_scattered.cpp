// SPDX-License-Identifier: Apache-2.0
// atom_access_scattered.cpp  A load of 16 bytes whose elements are 8 bytes apart.
// expect-error: TW0160_elements_of_one_access_are_not_contiguous
// expect-error: 1000004
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout rows = "(32,32):(2,64)"_L;
#else
constexpr layout rows = "(32,32):(1,32)"_L;
#endif
constexpr layout map = natural_map(ld_access(128), rows, 32);
[[maybe_unused]] constexpr warp_access first = access_of(ld_access(128), rows, 32, map, 0);
