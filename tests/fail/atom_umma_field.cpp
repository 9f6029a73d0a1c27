// SPDX-License-Identifier: Apache-2.0
// atom_umma_field.cpp  N beyond what an instruction descriptor holds.
// expect-error: TW0219_value_does_not_fit_the_instruction_descriptor
// expect-error: 264000256
// max lines(g++): 11
// max lines(nvcc): 13
#include "tilewright/atom/umma_idesc.hpp"

using namespace tw;

#ifdef TW_FAIL
[[maybe_unused]] constexpr std::uint32_t bits = umma_idesc{.n = 264, .m = 128}.bits();
#else
constexpr std::uint32_t bits = umma_idesc{.n = 256, .m = 128}.bits();
static_assert(bits >> 24 == 8);
#endif
