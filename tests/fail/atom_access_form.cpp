// SPDX-License-Identifier: Apache-2.0
// atom_access_form.cpp  A wgmma operand whose rows are 128 bytes apart, without the swizzle.
// expect-error: TW0165_layout_is_not_one_that_the_hardware_reads_or_writes
// expect-error: 128000016
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout rows = "(64,64):(64,1)"_L;
#else
constexpr layout rows = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(wgmma_access, rows, 16);
