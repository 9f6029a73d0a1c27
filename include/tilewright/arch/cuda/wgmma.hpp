// SPDX-License-Identifier: Apache-2.0
// wgmma.hpp  The asynchronous warpgroup multiply: accumulators, fence, groups, and the choice of
//            the instruction. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include "tilewright/arch/cuda/wgmma_table.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// One thread's registers of a 64 x N tile of float32, uninitialised; arch/accumulator_map.hpp says
/// where they lie. Indices must be constants after unrolling.
template <int N>
struct accumulator {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "[TW0201] wgmma N is a multiple of 8 up to 256");
  static constexpr int size = N / 2;
  float r[size];

  TW_DEVICE float& operator[](int i) { return r[i]; }
};

namespace detail {

/// Uses of the registers stay on their side of this point: the hardware writes them between a
/// fence and a wait without the compiler knowing.
template <int N>
TW_DEVICE void pin(accumulator<N>& acc) {
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+f"(acc.r[i])::"memory");
}

template <int Count>
TW_DEVICE void pin(b32<Count>& a) {
  TW_UNROLL
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(a.r[i])::"memory");
}

}  // namespace detail

/// Orders the warpgroup's earlier accesses to these registers before the wgmmas that follow.
/// registers: up to two accumulators, or one accumulator and up to two fragments b32<4> of A.
/// PTX ISA, "wgmma.fence".
template <class... Registers>
TW_DEVICE void wgmma_fence(Registers&... registers) {
  (detail::pin(registers), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// d (64, N) = a (64, 16) * b (16, N) + d, or without + d. PTX ISA, "wgmma.mma_async".
template <elem AB, operand_major A, operand_major B, int N>
TW_DEVICE void wgmma(accumulator<N>& d, smem_desc a, smem_desc b, bool accumulate) {
  detail::wgmma_ss<AB, static_cast<int>(A), static_cast<int>(B)>(d.r, a.bits, b.bits, accumulate);
}
/// The same with A from registers: four 8x8 matrices, rows 0-7 and 8-15 of the warp's 16 at k 0-7,
/// then at k 8-15, each as ldmatrix gives it. Keep `a` unchanged until wgmma_wait.
template <elem AB, operand_major B, int N>
TW_DEVICE void wgmma(accumulator<N>& d, b32<4> a, smem_desc b, bool accumulate) {
  detail::wgmma_rs<AB, static_cast<int>(B)>(d.r, a, b.bits, accumulate);
}

/// Closes the group of the wgmmas since the last commit. PTX ISA, "wgmma.commit_group".
TW_DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most `Pending` groups are unfinished; then these registers hold their results.
/// PTX ISA, "wgmma.wait_group".
template <int Pending, int... N>
TW_DEVICE void wgmma_wait(accumulator<N>&... acc) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
  (detail::pin(acc), ...);
}

}  // namespace tw
