// SPDX-License-Identifier: Apache-2.0
// operand.cpp  Refusals of operands in shared memory.
#include "tilewright/atom/operand.hpp"
#include "tilewright/atom/execute.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

using namespace tw;

// case gemm_operands
// A GEMM configuration whose A and B have types that no instruction multiplies.
// expect-error: [TW0208] A and B have one type
// max lines(g++): 20
namespace gemm_operands {
#ifdef TW_FAIL
constexpr gemm_config c{.a = {elem::e4m3}, .b = {elem::s8}};
#else
constexpr gemm_config c{.a = {elem::e4m3}, .b = {elem::e5m2}};
#endif
static_assert(is_checked<c>());
}  // namespace gemm_operands

// case operand_desc_major
// A descriptor of an MN-major tile of tf32.
// expect-error: [TW0208] wgmma reads no MN-major operands of this type from shared memory
// max lines(g++): 13
namespace operand_desc_major {
#ifdef TW_FAIL
using tile = operand_tile<elem::tf32, operand_major::mn, swizzle_mode::b128>;
#else
using tile = operand_tile<elem::tf32, operand_major::k, swizzle_mode::b128>;
#endif
std::uint64_t bits() { return tile::desc(0, 64, 0, 0).bits; }
}  // namespace operand_desc_major

// case operand_k
// A K extent that no whole number of swizzle spans fills.
// expect-error: [TW0207]
// max lines(g++): 11
namespace operand_k {
#ifdef TW_FAIL
constexpr int k = 96;
#else
constexpr int k = 128;
#endif
static_assert(operand_tile<elem::bf16, operand_major::k, swizzle_mode::b128, k>::boxes(64) == 2);
}  // namespace operand_k

// case operand_swizzle_align
// A swizzled operand of wgmma on memory that is aligned to 128 bytes.
// expect-error: TW0141_alignment_in_bytes_is_less_than_the_access_needs
// expect-error: 128001024
// max lines(nvcc): 24
namespace operand_swizzle_align {
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
}  // namespace operand_swizzle_align

// case operand_type
// A wgmma operand tile of 32-bit elements.
// expect-error: [TW0208]
// max lines(g++): 11
namespace operand_type {
#ifdef TW_FAIL
using tile = operand_tile<elem::f32, operand_major::k, swizzle_mode::b128, 64>;
#else
using tile = operand_tile<elem::f16, operand_major::k, swizzle_mode::b128, 64>;
#endif
static_assert(tile::span == 64);
}  // namespace operand_type
