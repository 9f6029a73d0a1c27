// SPDX-License-Identifier: Apache-2.0
// atom_access_modes.cpp  A tile of three modes.
// expect-error: TW0166_tile_or_threads_have_another_number_of_modes
// expect-error: 3000002
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout cells = "(8,8,2):(8,1,64)"_L;
#else
constexpr layout cells = "(8,(8,2)):(8,(1,64))"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ld_access(32), cells, 32);
