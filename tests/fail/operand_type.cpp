// SPDX-License-Identifier: Apache-2.0
// operand_type.cpp  A wgmma operand tile of 32-bit elements.
// expect-error: [TW0208]
// max lines(g++): 11
#include "tilewright/atom/operand.hpp"

using namespace tw;

#ifdef TW_FAIL
using tile = operand_tile<elem::f32, operand_major::k, swizzle_mode::b128, 64>;
#else
using tile = operand_tile<elem::f16, operand_major::k, swizzle_mode::b128, 64>;
#endif
static_assert(tile::span == 64);
