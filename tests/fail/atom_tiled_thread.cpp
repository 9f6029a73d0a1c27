// SPDX-License-Identifier: Apache-2.0
// atom_tiled_thread.cpp  A part for a thread that there is not.
// expect-error: TW0217_tiled_mma_has_no_such_thread
// expect-error: 128000128
// max lines(g++): 12
// max lines(nvcc): 16
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/layout/layout.hpp"

using namespace tw;

constexpr mma_atom warp = find_mma("mma.sm80.m16n8k16.f32.f16.f16");

#ifdef TW_FAIL
[[maybe_unused]] constexpr sliced part =
    partition_c(make_tiled_mma(warp, "(2,2,1)"_L), 128, "(64,64)"_L);
#else
constexpr sliced part = partition_c(make_tiled_mma(warp, "(2,2,1)"_L), 127, "(64,64)"_L);
static_assert(size(part.kept) == 32);
#endif
