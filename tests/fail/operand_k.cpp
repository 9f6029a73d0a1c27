// SPDX-License-Identifier: Apache-2.0
// operand_k.cpp  A K extent that no whole number of swizzle spans fills.
// expect-error: [TW0207]
// max lines(g++): 11
#include "tilewright/atom/operand.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr int k = 96;
#else
constexpr int k = 128;
#endif
static_assert(operand_tile<elem::bf16, operand_major::k, swizzle_mode::b128, k>::boxes(64) == 2);
