// SPDX-License-Identifier: Apache-2.0
// atom_operand_start.cpp  An operand that starts at row 4 of the 8 of its swizzle.
// expect-error: TW0242_operand_starts_inside_the_swizzle_pattern
// expect-error: 512001024
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#ifdef TW_FAIL
constexpr operand_places p = places_of_operand(step, 256, operand_major::k, 16);
#else
constexpr operand_places p = places_of_operand(step, 512, operand_major::k, 16);
static_assert(p.start_bytes == 1024);
#endif
