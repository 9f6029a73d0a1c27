// SPDX-License-Identifier: Apache-2.0
// wgmma_kinds.hpp  Consecutive wgmmas of any kind: each CTA multiplies its own operands.
//
// Operands are in global memory, step by step: A [CTA][step][64 rows][32 bytes of K], B the same
// with N rows. They lie in shared memory without a swizzle. The accumulator is loaded from c and
// stored to d as its registers: [CTA][thread][register].
#pragma once

#include "tests/arch/kernels/machine.hpp"
#include "tilewright/arch/select.hpp"

namespace tw::test {

struct kind_params {
  std::uint32_t const* a;
  std::uint32_t const* b;
  std::uint32_t const* c;
  std::uint32_t* d;
  int steps;
  bool accumulate;
};

/// The most steps.
constexpr int kind_steps = 4;

template <int N>
struct kind_smem {
  alignas(128) std::uint32_t a[kind_steps][2][64][4];  // [step][16 bytes of K][row]
  alignas(128) std::uint32_t b[kind_steps][2][N][4];
};

/// A wgmma with A from registers, too, where Registers is true.
template <elem A, elem B, class T, int N, bool Registers = false,
          integer_overflow Overflow = integer_overflow::wrap>
struct wgmma_kind_kernel {
  using params = kind_params;
  using smem = kind_smem<N>;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);
  static constexpr wgmma_form form{A, B, elem_of<T>, Overflow, operand_major::k, operand_major::k,
                                   N};
  static constexpr bool a_in_registers = Registers;

  /// Rows of 8 words to [16 bytes of K][row].
  TW_DEVICE static void fill(std::uint32_t* to, std::uint32_t const* from, int rows) {
    for (int i = thread_id(); i < 8 * rows; i += threads)
      to[i % 8 / 4 * 4 * rows + i / 8 * 4 + i % 4] = from[i];
  }
  TW_DEVICE static smem_desc desc(std::uint32_t const* tile, int rows) {
    return make_smem_desc(smem_addr(tile), static_cast<std::uint32_t>(16 * rows), 128,
                          swizzle_mode::none);
  }

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const cta = cta_id(), thread = thread_id();
    for (int i = 0; i < p.steps; ++i) {
      fill(&s.a[i][0][0][0], p.a + (cta * p.steps + i) * 64 * 8, 64);
      fill(&s.b[i][0][0][0], p.b + (cta * p.steps + i) * N * 8, N);
    }
    fence_proxy_async();
    cta_sync();
    accumulator<N, T> acc;
    constexpr int size = accumulator<N, T>::size;
    int const mine = (cta * threads + thread) * size;
    TW_UNROLL
    for (int i = 0; i < size; ++i)
      acc[i] = __builtin_bit_cast(typename accumulator<N, T>::word, p.c[mine + i]);
    for (int i = 0; i < p.steps; ++i) {
      smem_desc const b = desc(&s.b[i][0][0][0], N);
      bool const add = p.accumulate || i > 0;
      if constexpr (Registers) {
        b32<4> a;
        TW_UNROLL
        for (int r = 0; r < 4; ++r)
          a.r[r] = s.a[i][r / 2][16 * (thread / 32) + thread % 32 / 4 + 8 * (r % 2)][thread % 4];
        wgmma_fence(acc, a);
        wgmma<A, operand_major::k, B, Overflow>(acc, a, b, add);
        wgmma_commit();
        wgmma_wait<0>(acc);
      } else {
        wgmma_fence(acc);
        wgmma<A, operand_major::k, operand_major::k, B, Overflow>(acc, desc(&s.a[i][0][0][0], 64),
                                                                  b, add);
        wgmma_commit();
        wgmma_wait<0>(acc);
      }
    }
    TW_UNROLL
    for (int i = 0; i < size; ++i) p.d[mine + i] = __builtin_bit_cast(std::uint32_t, acc[i]);
  }
};

}  // namespace tw::test
