// SPDX-License-Identifier: Apache-2.0
// atom_access_unfilled.cpp  ldmatrix of 60 rows: four matrices have 16.
// expect-error: TW0162_tile_is_not_made_of_whole_accesses
// expect-error: 60000016
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout rows = "(60,64):(64,1)"_L;
#else
constexpr layout rows = "(64,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ldmatrix_access(4), rows, 16);
