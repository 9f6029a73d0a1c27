// SPDX-License-Identifier: Apache-2.0
// atom_operand_rows.cpp  Rows of 32 bytes, without the swizzle that such rows have.
// expect-error: TW0240_operand_is_not_canonical
// expect-error: 2000001
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout step = "(64,16):(16,1)"_L;
#else
constexpr layout step = "Sw<1,3,3> o 0 o (64,16):(16,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
