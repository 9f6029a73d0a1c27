// SPDX-License-Identifier: Apache-2.0
// atom_operand_step.cpp  A descriptor of 64 elements of K: an instruction reads 16.
// expect-error: TW0241_operand_step_has_another_extent
// expect-error: 64000016
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout step = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;
#else
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
