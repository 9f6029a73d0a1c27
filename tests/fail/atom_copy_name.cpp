// SPDX-License-Identifier: Apache-2.0
// atom_copy_name.cpp  A copy atom that no row has: 21 characters, of which 19 are a row's.
// expect-error: TW0233_no_copy_atom_of_this_name
// expect-error: 21000019
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/copy_find.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.y4");
#else
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x4");
static_assert(a.threads() == 32);
#endif
