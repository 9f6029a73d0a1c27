// SPDX-License-Identifier: Apache-2.0
// atom_copy_uncovered.cpp  Threads and values that reach the 65th of 64 elements.
// expect-error: TW0232_cotiled_copy_reaches_an_address_without_data
// expect-error: 127000064
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/tiled_copy.hpp"

using namespace tw;

constexpr copy_atom atom = in_values(copy_atom_named("copy.universal.64"), 16);
#ifdef TW_FAIL
constexpr tiled_copy c = make_cotiled_copy(atom, "(32,4):(4,1)"_L, "(8,8)"_L);
#else
constexpr tiled_copy c = make_cotiled_copy(atom, "(16,4):(4,1)"_L, "(8,8)"_L);
static_assert(c.threads() == 16);
#endif
