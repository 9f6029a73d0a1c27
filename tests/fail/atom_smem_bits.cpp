// SPDX-License-Identifier: Apache-2.0
// atom_smem_bits.cpp  A shared-memory atom of elements of 48 bits.
// expect-error: TW0235_no_shared_memory_atom_of_this_element_width
// expect-error: 48000128
// max lines(g++): 12
// max lines(nvcc): 20
#include "tilewright/atom/smem_atom.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout l = smem_atom(operand_major::k, smem_swizzle::b128, 48);
#else
constexpr layout l = smem_atom(operand_major::k, smem_swizzle::b128, 32);
static_assert(size(l) == 8 * 32);
#endif
