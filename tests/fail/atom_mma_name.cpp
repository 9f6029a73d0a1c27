// SPDX-License-Identifier: Apache-2.0
// atom_mma_name.cpp  A name whose parts stand in another order.
// expect-error: TW0210_name_is_not_that_of_an_mma_atom
// expect-error: 24000033
// max lines(g++): 12
// max lines(nvcc): 16
#include "tilewright/atom/mma_name.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr mma_atom atom = find_mma("mma.sm90.m64n96k16.f32.ss.f16.f16");
#else
constexpr mma_atom atom = find_mma("mma.sm90.m64n96k16.f32.f16.f16.ss");
static_assert(atom.n == 96);
#endif
