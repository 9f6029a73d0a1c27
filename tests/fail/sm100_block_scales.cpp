// SPDX-License-Identifier: Apache-2.0
// sm100_block_scales.cpp  A Blackwell GEMM with block scales whose sums do not fit in registers.
// expect-error: [TW0270]
#include "tilewright/kernel/sm100/gemm.hpp"

#ifdef TW_FAIL
constexpr int columns = 256;
#else
constexpr int columns = 128;
#endif
static_assert(sizeof(tw::sm100_scaled_sums<tw::sm100_config{.a = {tw::elem::e4m3},
                                                            .b = {tw::elem::e4m3},
                                                            .tile_n = columns,
                                                            .block_scales = true}>) > 0);
