// SPDX-License-Identifier: Apache-2.0
// atom_operand_units.cpp  Rows of an operand that are 40 bytes apart.
// expect-error: TW0239_operand_strides_are_no_multiples_of_16_bytes
// expect-error: 320000128
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout step = "(64,16):(20,1)"_L;
#else
constexpr layout step = "(64,(8,2)):(8,(1,512))"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
