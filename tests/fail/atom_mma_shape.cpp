// SPDX-License-Identifier: Apache-2.0
// atom_mma_shape.cpp  A shape that wgmma does not have.
// expect-error: TW0211_no_instruction_has_this_shape_with_these_formats
// expect-error: 100064016
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/mma_name.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr mma_atom atom = find_mma("mma.sm90.m64n100k16.f32.bf16.bf16.ss");
#else
constexpr mma_atom atom = find_mma("mma.sm90.m64n104k16.f32.bf16.bf16.ss");
static_assert(atom.n == 104);
#endif
