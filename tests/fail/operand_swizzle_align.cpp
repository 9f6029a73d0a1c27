// SPDX-License-Identifier: Apache-2.0
// operand_swizzle_align.cpp  A swizzled operand of wgmma on memory that is aligned to 128 bytes.
// expect-error: TW0141_alignment_in_bytes_is_less_than_the_access_needs
// expect-error: 128001024
// max lines(nvcc): 24
#include "tilewright/atom/execute.hpp"

using namespace tw;

constexpr tiled_mma multiply = make_tiled_mma(find_mma("mma.sm90.m64n64k16.f32.bf16.bf16.ss"),
                                              "(1,1):(1,1)"_L, tile(64, 64, 16));
constexpr layout swizzled_tile = "Sw<3,3,3> o 0 o (64,64):(64,1)"_L;
#ifdef TW_FAIL
constexpr int promised = 128;
#else
constexpr int promised = 1024;
#endif
TW_DEVICE void step(bf16* a, bf16* b, accumulators<multiply, 64, 64>& sums) {
  gemm<multiply>(make_tensor<swizzled_tile>(make_smem_ptr<promised>(a)),
                 make_tensor<swizzled_tile>(make_smem_ptr<1024>(b)), sums, false);
}
