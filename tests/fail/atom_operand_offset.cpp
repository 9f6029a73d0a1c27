// SPDX-License-Identifier: Apache-2.0
// atom_operand_offset.cpp  The halves of an operand half a MiB apart.
// expect-error: TW0243_offset_does_not_fit_the_descriptor
// expect-error(g++): 524288262144
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout step = "(64,(8,2)):(8,(1,262144))"_L;
#else
constexpr layout step = "(64,(8,2)):(8,(1,65536))"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
