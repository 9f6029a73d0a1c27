// SPDX-License-Identifier: Apache-2.0
// atom_operand_swizzle.cpp  A descriptor of a swizzle whose base is not 16 bytes.
// expect-error: TW0237_swizzle_is_not_one_of_shared_memory
// expect-error: 353000343
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout step = "Sw<3,4,3> o 0 o (64,16):(64,1)"_L;
#else
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
