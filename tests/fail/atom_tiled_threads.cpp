// SPDX-License-Identifier: Apache-2.0
// atom_tiled_threads.cpp  Threads that leave gaps have no thread-value layout.
// expect-error: TW0216_threads_of_a_tiled_mma_are_not_consecutive
// expect-error: 4000008
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/layout/layout.hpp"

using namespace tw;

constexpr mma_atom volta = find_mma("mma.sm70.m8n8k4.f32.f16.f16.a_mn.b_mn");

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout tv = tv_c(make_tiled_mma(volta, "(1,1,1)"_L));
#else
constexpr layout tv = tv_c(make_tiled_mma(volta, "(2,2):(2,1)"_L));
static_assert(size(tv) == 16 * 16);
#endif
