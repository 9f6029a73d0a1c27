// SPDX-License-Identifier: Apache-2.0
// sm100_tile.cpp  A Blackwell GEMM whose tiles have a number of columns that it does not offer.
// expect-error: [TW0270]
#include "tilewright/kernel/sm100/gemm.hpp"

#ifdef TW_FAIL
static_assert(tw::gemm_sm100<tw::sm100_config{.tile_n = 192}>::threads > 0);
#else
static_assert(tw::gemm_sm100<tw::sm100_config{.tile_n = 128}>::threads > 0);
#endif
