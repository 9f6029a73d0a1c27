// SPDX-License-Identifier: Apache-2.0
// operand_desc_major.cpp  A descriptor of an MN-major tile of tf32.
// expect-error: [TW0208] wgmma reads no MN-major operands of this type from shared memory
// max lines(g++): 13
#include "tilewright/atom/operand.hpp"

using namespace tw;

#ifdef TW_FAIL
using tile = operand_tile<elem::tf32, operand_major::mn, swizzle_mode::b128>;
#else
using tile = operand_tile<elem::tf32, operand_major::k, swizzle_mode::b128>;
#endif
std::uint64_t bits() { return tile::desc(0, 64, 0, 0).bits; }
