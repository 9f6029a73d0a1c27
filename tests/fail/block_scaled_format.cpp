// SPDX-License-Identifier: Apache-2.0
// block_scaled_format.cpp  A block-scaled kernel of a format that does not exist.
// expect-error: [TW0271]
#include "tilewright/kernel/sm100/block_scaled.hpp"

#ifdef TW_FAIL
constexpr tw::block_scaled_config config{.a = tw::elem::e4m3, .b = tw::elem::e4m3, .block = 16};
#else
constexpr tw::block_scaled_config config{
    .a = tw::elem::e4m3, .b = tw::elem::e4m3, .scale = tw::elem::ue8m0, .block = 32};
#endif
int const bytes = tw::block_scaled_sm100<config>::smem_bytes;
