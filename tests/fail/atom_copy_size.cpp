// SPDX-License-Identifier: Apache-2.0
// atom_copy_size.cpp  ldmatrix of eight matrices.
// expect-error: TW0234_copy_atom_does_not_come_in_this_size
// expect-error: 8000004
// max lines(g++): 12
// max lines(nvcc): 20
#include "tilewright/atom/copy_find.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x8");
#else
constexpr copy_atom a = copy_atom_named("copy.sm75.ldmatrix.x2");
static_assert(a.threads() == 32);
#endif
