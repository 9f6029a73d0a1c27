// SPDX-License-Identifier: Apache-2.0
// atom_access_bytes.cpp  A tile of 4 MiB.
// expect-error: TW0167_tile_does_not_fit_shared_memory
// expect-error(g++): 4194304232448
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/access.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr layout cells = "(1024,1024):(1024,1)"_L;
#else
constexpr layout cells = "(128,128):(128,1)"_L;
#endif
[[maybe_unused]] constexpr layout map = natural_map(ld_access(32), cells, 32);
