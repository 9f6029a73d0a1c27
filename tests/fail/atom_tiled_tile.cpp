// SPDX-License-Identifier: Apache-2.0
// atom_tiled_tile.cpp  A permutation that the atoms do not fill.
// expect-error: TW0215_permutation_is_not_filled_by_the_atoms
// expect-error: 24000016
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/layout/layout.hpp"

using namespace tw;

constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L, tile(32, 24, 16));
#else
constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L, tile(32, 32, 16));
static_assert(thread_count(mma) == 128);
#endif
