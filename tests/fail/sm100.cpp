// SPDX-License-Identifier: Apache-2.0
// sm100.cpp  Refusals of configurations of Blackwell's kernels.
#include "tilewright/kernel/sm100/block_scaled.hpp"
#include "tilewright/kernel/sm100/gemm.hpp"

using namespace tw;

// case block_scaled_format
// A block-scaled kernel of a format that does not exist.
// expect-error: [TW0271]
namespace block_scaled_format {
#ifdef TW_FAIL
constexpr tw::block_scaled_config config{.a = tw::elem::e4m3, .b = tw::elem::e4m3, .block = 16};
#else
constexpr tw::block_scaled_config config{
    .a = tw::elem::e4m3, .b = tw::elem::e4m3, .scale = tw::elem::ue8m0, .block = 32};
#endif
int const bytes = tw::block_scaled_sm100<config>::smem_bytes;
}  // namespace block_scaled_format

// case sm100_block_scales
// A Blackwell GEMM with block scales whose sums do not fit in registers.
// expect-error: [TW0270]
namespace sm100_block_scales {
#ifdef TW_FAIL
constexpr int columns = 256;
#else
constexpr int columns = 128;
#endif
static_assert(sizeof(tw::sm100_scaled_sums<tw::sm100_config{.a = {tw::elem::e4m3},
                                                            .b = {tw::elem::e4m3},
                                                            .tile_n = columns,
                                                            .block_scales = true}>) > 0);
}  // namespace sm100_block_scales

// case sm100_box
// A Blackwell GEMM whose tiles have fewer columns than a box of an 8-bit D.
// expect-error: [TW0270]
namespace sm100_box {
#ifdef TW_FAIL
constexpr int columns = 64;
#else
constexpr int columns = 128;
#endif
static_assert(tw::gemm_sm100<tw::sm100_config{.a = {tw::elem::e4m3},
                                              .b = {tw::elem::e4m3},
                                              .d = tw::elem::e4m3,
                                              .tile_n = columns}>::smem_bytes > 0);
}  // namespace sm100_box

// case sm100_tile
// A Blackwell GEMM whose tiles have a number of columns that it does not offer.
// expect-error: [TW0270]
namespace sm100_tile {
#ifdef TW_FAIL
static_assert(tw::gemm_sm100<tw::sm100_config{.tile_n = 192}>::threads > 0);
#else
static_assert(tw::gemm_sm100<tw::sm100_config{.tile_n = 128}>::threads > 0);
#endif
}  // namespace sm100_tile
