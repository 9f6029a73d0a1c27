// SPDX-License-Identifier: Apache-2.0
// umma.hpp  The multiplies of arch/cuda/umma.hpp for a Hopper GPU: a warpgroup beside the kernel's
//           warps executes them by wgmma, from the same tiles in shared memory, and adds to what
//           stands for tensor memory (tmem.hpp beside this file).
#pragma once

#include <type_traits>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/sync.hpp"
#include "tilewright/arch/cuda/tma_table.hpp"
#include "tilewright/arch/cuda/tmem.hpp"
#include "tilewright/arch/cuda/wgmma.hpp"

namespace tw {

template <umma_kind K, int Ctas = 1>
TW_DEVICE void umma(std::uint32_t d, umma_desc a, umma_desc b, std::uint32_t idesc,
                    bool accumulate) {
  static_assert(Ctas == 1 && !is_block_scaled(K), "wgmma has no CTA pairs and no scale factors");
  by_wgmma::issue({d, idesc, accumulate, a.bits, b.bits, nullptr});
}
template <int Ctas = 1>
TW_DEVICE void umma_commit(mbarrier& done) {
  static_assert(Ctas == 1, "a Hopper GPU has no CTA pairs");
  by_wgmma::issue({.done = &done});
}

// Named by branches that a kernel of one CTA does not take.
template <int Ctas = 1>
TW_DEVICE void umma_commit_multicast(mbarrier&, std::uint16_t) {
  static_assert(Ctas != Ctas, "a Hopper GPU has no CTA pairs");
}
template <int R>
TW_DEVICE void tma_load_pair(void*, tensor_map const&, mbarrier&, tma_coord<R>) {
  static_assert(R != R, "a Hopper GPU has no CTA pairs");
}

namespace by_wgmma {

/// Rows of A that a wgmma multiplies, and the columns of B of those here.
inline constexpr int step_m = 64, step_n = 64;

/// The operand of a wgmma from row `first` on, a multiple of 64: K-major rows have 128 bytes, and
/// 64 elements of 16 bits fill a span of an MN-major tile.
template <operand_major Major>
TW_DEVICE smem_desc part(umma_desc x, int first) {
  int const bytes =
      Major == operand_major::k ? first * 128 : first / 64 * static_cast<int>(x.leading_bytes());
  umma_desc const at = x + bytes;
  return make_smem_desc(at.address(), at.leading_bytes(), at.stride_bytes(), swizzle_mode::b128);
}

template <elem A, operand_major AMajor, operand_major BMajor, elem B>
TW_DEVICE void multiply(operation const& op, int thread) {
  int const warp = thread / 32, lane = thread % 32;
  umma_desc const a{op.a}, b{op.b};
  // Fields of the instruction descriptor: PTX ISA, "Instruction descriptor".
  int const m = static_cast<int>(op.idesc >> 24 & 0x1FU) * 16;
  int const n = static_cast<int>(op.idesc >> 17 & 0x3FU) * 8;
  bool const as_expected = a.layout_type() == umma_layout_type(swizzle_mode::b128) &&
                           b.layout_type() == umma_layout_type(swizzle_mode::b128) &&
                           (op.idesc >> 15 & 1U) == (AMajor == operand_major::mn ? 1U : 0U) &&
                           (op.idesc >> 16 & 1U) == (BMajor == operand_major::mn ? 1U : 0U);
  if (!as_expected) __trap();
  for (int row = 0; row < m; row += step_m)
    for (int col = 0; col < n; col += step_n) {
      accumulator<step_n> sum;
      std::uint32_t const first = tmem_at(op.d, row + accumulator_map::row_of(warp, lane),
                                          col + accumulator_map::col_of(lane));
      auto const at = [&](int i) {
        return cell(tmem_at(first, accumulator_map::row_of_register(i),
                            accumulator_map::col_of_register(i)));
      };
      TW_UNROLL
      for (int i = 0; i < accumulator<step_n>::size; ++i)
        sum[i] = op.accumulate ? tmem_float(__ldcg(at(i))) : 0.0F;
      wgmma_fence(sum);
      wgmma<A, AMajor, BMajor, B>(sum, part<AMajor>(a, row), part<BMajor>(b, col), true);
      wgmma_commit();
      wgmma_wait<0>(sum);
      TW_UNROLL
      for (int i = 0; i < accumulator<step_n>::size; ++i)
        __stcg(at(i), __builtin_bit_cast(std::uint32_t, sum[i]));
    }
}

/// 128 threads, whose numbers begin at a multiple of 128, execute the first `count` operations.
template <elem A, operand_major AMajor, operand_major BMajor, elem B>
TW_DEVICE void execute(int thread, unsigned count) {
  constexpr int own_barrier = 1, warpgroup = 128;
  operation_queue& q = queue();
  for (unsigned i = 0; i < count; ++i) {
    if (thread == 0)
      while (q.issued == i) {
      }
    __threadfence_block();
    named_barrier_sync(own_barrier, warpgroup);
    operation const op = q.of[i % operation_queue::length];
    if (op.done == nullptr) multiply<A, AMajor, BMajor, B>(op, thread);
    __threadfence();
    named_barrier_sync(own_barrier, warpgroup);
    if (thread != 0) continue;
    if (op.done != nullptr) op.done->arrive();
    q.taken = i + 1;
  }
}

}  // namespace by_wgmma

}  // namespace tw
