// SPDX-License-Identifier: Apache-2.0
// gemm_register_a.cpp  A cluster whose kernel reads A into registers.
// expect-error: [TW0204] with A in registers
// max lines(g++): 20
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

#ifdef TW_FAIL
constexpr gemm_config c{.a = {elem::tf32, elem::tf32, operand_major::mn, operand_source::registers},
                        .b = {elem::tf32},
                        .d = elem::f32,
                        .tile_n = 64};
#else
constexpr gemm_config c{.a = {elem::tf32}, .b = {elem::tf32}, .d = elem::f32, .tile_n = 64};
#endif
static_assert(is_checked<c>());
