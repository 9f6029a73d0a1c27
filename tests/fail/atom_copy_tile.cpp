// SPDX-License-Identifier: Apache-2.0
// atom_copy_tile.cpp  Two floats for each thread of a copy that moves four.
// expect-error: TW0231_threads_or_values_are_no_multiple_of_the_copy_atom
// expect-error: 2000004
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/tiled_copy.hpp"

using namespace tw;

constexpr copy_atom atom = in_values(copy_atom_named("copy.universal.128"), 32);
#ifdef TW_FAIL
constexpr tiled_copy c = make_tiled_copy(atom, "(32,8)"_L, "(2,1)"_L);
#else
constexpr tiled_copy c = make_tiled_copy(atom, "(32,8)"_L, "(4,1)"_L);
static_assert(c.threads() == 256);
#endif
