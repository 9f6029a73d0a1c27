// SPDX-License-Identifier: Apache-2.0
// atom_smem_fit.cpp  A tile whose rows no shared-memory atom fills.
// expect-error: TW0236_no_shared_memory_atom_fits_the_tile
// expect-error: 20000008
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/smem_choice.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr smem_choice c = widest_smem_atom(operand_major::k, 16, make_shape(128, 20));
#else
constexpr smem_choice c = widest_smem_atom(operand_major::k, 16, make_shape(128, 24));
static_assert(c.mode == smem_swizzle::none);
#endif
