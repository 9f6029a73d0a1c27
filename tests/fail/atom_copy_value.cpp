// SPDX-License-Identifier: Apache-2.0
// atom_copy_value.cpp  An element that a transposed ldmatrix would tear apart.
// expect-error: TW0230_copy_value_is_split_between_threads_or_cut_short
// expect-error: 32000016
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/copy_find.hpp"

using namespace tw;

constexpr copy_atom matrices = copy_atom_named("copy.sm75.ldmatrix.x4.t");
#ifdef TW_FAIL
constexpr copy_atom a = in_values(matrices, 32);
#else
constexpr copy_atom a = in_values(matrices, 16);
static_assert(a.values() > 0);
#endif
