// SPDX-License-Identifier: Apache-2.0
// arch_wgmma.cpp  Refusals of wgmma's shapes and types.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case wgmma_major
// A wgmma that would read an e4m3 operand N-major.
// expect-error: [TW0224]
// expect-error(g++): wgmma_major<tw::elem::e4m3, tw::operand_major::mn>
// max lines(g++): 14
// max lines(nvcc): 14
namespace wgmma_major {
#ifdef TW_FAIL
constexpr operand_major b_major = operand_major::mn;
#else
constexpr operand_major b_major = operand_major::k;
#endif
TW_DEVICE void multiply(accumulator<64>& d, smem_desc a, smem_desc b) {
  wgmma<elem::e4m3, operand_major::k, b_major>(d, a, b, true);
}
}  // namespace wgmma_major

// case wgmma_n
// A wgmma whose N is no multiple of 8.
// expect-error: [TW0201]
namespace wgmma_n {
#ifdef TW_FAIL
constexpr int n = 20;
#else
constexpr int n = 24;
#endif
static_assert(accumulator<n>::size == n / 2);
}  // namespace wgmma_n

// case wgmma_n_integer
// An integer wgmma whose N is a multiple of 8 and not of 16.
// expect-error: [TW0201]
namespace wgmma_n_integer {
#ifdef TW_FAIL
constexpr int n = 40;
#else
constexpr int n = 48;
#endif
static_assert(accumulator<n, std::int32_t>::size == n / 2);
}  // namespace wgmma_n_integer

// case wgmma_types
// A wgmma of bf16 elements with sums in f16.
// expect-error: [TW0225]
// expect-error(g++): wgmma_types<tw::elem::bf16, tw::elem::bf16, tw::elem::f16>
// max lines(g++): 14
// max lines(nvcc): 14
namespace wgmma_types {
#ifdef TW_FAIL
constexpr elem type = elem::bf16;
#else
constexpr elem type = elem::f16;
#endif
TW_DEVICE void multiply(accumulator<64, f16>& d, smem_desc a, smem_desc b) {
  wgmma<type, operand_major::k, operand_major::k>(d, a, b, true);
}
}  // namespace wgmma_types
