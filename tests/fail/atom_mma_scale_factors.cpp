// SPDX-License-Identifier: Apache-2.0
// atom_mma_scale_factors.cpp  Scale factors of an atom that has none.
// expect-error: TW0213_atom_has_no_such_operand
// expect-error: 3000003
#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/atom/mma_name.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr layout factors = layout_sfa(find_mma("mma.sm80.m16n8k16.f32.f16.f16"));
#else
constexpr layout factors = layout_sfa(find_mma("mma.sm120.m16n8k32.f32.e4m3.e4m3.ue8m0.block32"));
static_assert(size(factors) == 32 * 32);
#endif
