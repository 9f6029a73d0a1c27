// SPDX-License-Identifier: Apache-2.0
// sm100_box.cpp  A Blackwell GEMM whose tiles have fewer columns than a box of an 8-bit D.
// expect-error: [TW0270]
#include "tilewright/kernel/sm100/gemm.hpp"

#ifdef TW_FAIL
constexpr int columns = 64;
#else
constexpr int columns = 128;
#endif
static_assert(tw::gemm_sm100<tw::sm100_config{.a = {tw::elem::e4m3},
                                              .b = {tw::elem::e4m3},
                                              .d = tw::elem::e4m3,
                                              .tile_n = columns}>::smem_bytes > 0);
