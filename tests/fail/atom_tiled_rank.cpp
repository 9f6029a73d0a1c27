// SPDX-License-Identifier: Apache-2.0
// atom_tiled_rank.cpp  An atom layout with a fourth mode.
// expect-error: TW0214_tiled_mma_has_modes_m_n_k
// expect-error: 4000003
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/layout/layout.hpp"

using namespace tw;

constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1,1)"_L);
#else
constexpr tiled_mma mma = make_tiled_mma(warp, "(2,2,1)"_L);
static_assert(thread_count(mma) == 128);
#endif
