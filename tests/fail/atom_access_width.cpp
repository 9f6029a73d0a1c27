// SPDX-License-Identifier: Apache-2.0
// atom_access_width.cpp  Loads of 16 bits for elements of 32.
// expect-error: TW0163_access_does_not_move_elements_of_this_width
// expect-error: 32000016
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr access_kind load = ld_access(16);
#else
constexpr access_kind load = ld_access(32);
#endif
[[maybe_unused]] constexpr layout map = natural_map(load, "(32,32):(32,1)"_L, 32);
