// SPDX-License-Identifier: Apache-2.0
// wgmma.hpp  The asynchronous warpgroup multiply: accumulators, fence, groups, and the choice of
//            the instruction. PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/cuda/wgmma_table.hpp"
#include "tilewright/arch/cuda/wgmma_table_f16.hpp"
#include "tilewright/arch/cuda/wgmma_table_s32.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/arch/wgmma_kind.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

using register_index = int;  // of an accumulator; in the emulator with its place in the source

/// One thread's registers of a 64 x N tile of sums, uninitialised; arch/accumulator_map.hpp says
/// where they lie. T is float, std::int32_t (s8 and u8), or f16: then register i, a 32-bit word,
/// holds values 2i (low half) and 2i + 1. Indices must be constants after unrolling.
template <int N, class T = float>
struct accumulator {
  static_assert(
      has_wgmma_n(elem_of<T>, N),
      "[TW0201] wgmma N is a multiple of 8 up to 256; above 32 a multiple of 16 where the "
      "sums are integers");
  using value = T;
  using word = typename detail::accumulator_register<T>::type;
  static constexpr int size = N / 2 / detail::accumulator_register<T>::values;
  word r[size];

  TW_DEVICE word& operator[](int i) { return r[i]; }
};

namespace detail {

/// Uses of the registers stay on their side of this point: the hardware writes them between a
/// fence and a wait without the compiler knowing.
template <int N>
TW_DEVICE void pin(accumulator<N, float>& acc) {
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) asm volatile("" : "+f"(acc.r[i])::"memory");
}
template <int N, class T>
TW_DEVICE void pin(accumulator<N, T>& acc) {
  TW_UNROLL
  for (int i = 0; i < accumulator<N, T>::size; ++i) asm volatile("" : "+r"(acc.r[i])::"memory");
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
template <class... Registers, class Target = detail::this_target>
TW_DEVICE void wgmma_fence(Registers&... registers) {
  detail::need_sm90a<Target>();
  (detail::pin(registers), ...);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// d (64, N) = a (64, K) * b (K, N) + d, or without + d; K elements are 32 bytes. A and B are the
/// operands' types, AMajor and BMajor their orders; has_wgmma (arch/wgmma_kind.hpp) says which
/// exist. Overflow: of integer sums. PTX ISA, "wgmma.mma_async".
template <elem A, operand_major AMajor, operand_major BMajor, elem B = A,
          integer_overflow Overflow = integer_overflow::wrap, int N, class T,
          class Target = detail::this_target>
TW_DEVICE void wgmma(accumulator<N, T>& d, smem_desc a, smem_desc b, bool accumulate) {
  detail::need_sm90a<Target>();
  constexpr bool exists = detail::wgmma_types<A, B, elem_of<T>>::exists &&
                          detail::wgmma_major<A, AMajor>::exists &&
                          detail::wgmma_major<B, BMajor>::exists;
  if constexpr (exists)
    detail::wgmma_ss<detail::wgmma_text<A, B, elem_of<T>, Overflow, static_cast<int>(AMajor),
                                        static_cast<int>(BMajor)>>(d.r, a.bits, b.bits, accumulate);
}
/// wgmma with A from registers: the warp's 16 rows as four matrices of 8 rows x 16 bytes of K,
/// rows 0-7 and 8-15 at bytes 0-15, then at bytes 16-31, each as ldmatrix gives it. Keep `a`
/// unchanged until wgmma_wait.
template <elem A, operand_major BMajor, elem B = A,
          integer_overflow Overflow = integer_overflow::wrap, int N, class T,
          class Target = detail::this_target>
TW_DEVICE void wgmma(accumulator<N, T>& d, b32<4> a, smem_desc b, bool accumulate) {
  detail::need_sm90a<Target>();
  constexpr bool exists =
      detail::wgmma_types<A, B, elem_of<T>>::exists && detail::wgmma_major<B, BMajor>::exists;
  if constexpr (exists)
    detail::wgmma_rs<detail::wgmma_text<A, B, elem_of<T>, Overflow, -1, static_cast<int>(BMajor)>>(
        d.r, a, b.bits, accumulate);
}

/// Closes the group of the wgmmas since the last commit. PTX ISA, "wgmma.commit_group".
template <class Target = detail::this_target>
TW_DEVICE void wgmma_commit() {
  detail::need_sm90a<Target>();
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `Pending` groups are unfinished; then these registers hold their results.
/// PTX ISA, "wgmma.wait_group".
template <int Pending, int... N, class... T, class Target = detail::this_target>
TW_DEVICE void wgmma_wait(accumulator<N, T>&... acc) {
  detail::need_sm90a<Target>();
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
  (detail::pin(acc), ...);
}

}  // namespace tw
