// SPDX-License-Identifier: Apache-2.0
// atom_access_outside.cpp  Threads four elements apart in a tile of 64.
// expect-error: TW0164_thread_accesses_beyond_the_tile
// expect-error: 64000064
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout map = map_of_threads(ld_access(32), "(32,1):(4,0)"_L, 32);
#else
constexpr layout map = map_of_threads(ld_access(32), "(32,1):(2,0)"_L, 32);
#endif
[[maybe_unused]] constexpr warp_access first =
    access_of(ld_access(32), "(8,8):(8,1)"_L, 32, map, 0);
