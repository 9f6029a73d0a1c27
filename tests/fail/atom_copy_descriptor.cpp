// SPDX-License-Identifier: Apache-2.0
// atom_copy_descriptor.cpp  A K-major descriptor of a tile that is contiguous along M.
// expect-error: TW0238_operand_is_not_contiguous_along_its_major_mode
// expect-error: 64000001
// max lines(g++): 11
// max lines(nvcc): 17
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(1,64)"_L;
#ifdef TW_FAIL
constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
#else
constexpr operand_places p = places_of_operand(step, 0, operand_major::mn, 16);
static_assert(p.stride_bytes == 1024);
#endif
