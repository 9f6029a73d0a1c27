// SPDX-License-Identifier: Apache-2.0
// banks_kernels.hpp  One access of a warp as a kernel: counted (once for each step of a map) and
//                    timed (again and again by 8 warps); operand reads of wgmma; boxes of TMA.
//
// Counted kernels touch shared memory in no other way, so that the counters of Nsight Compute are
// those of the access.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"

namespace tw::test {

/// The addresses of a warp, byte offsets into shared memory, and who takes part.
struct warp_addresses {
  std::uint32_t at[32];
  std::uint32_t active;
};

inline constexpr int banks_smem_bytes = 64 * 1024;
inline constexpr int timed_warps = 8, timed_accesses = 1024;

enum class instruction { ld, st, ldmatrix, stmatrix, ldmatrix_trans, stmatrix_trans };

/// One instruction. `bits` is that of ld and st, or the number of matrices.
template <instruction I, int Bits>
TW_DEVICE std::uint32_t access_once(unsigned char* smem, std::uint32_t offset, std::uint32_t v) {
  std::uint32_t const at = smem_addr(smem) + offset;
  std::uint32_t x = 0, y = 0, z = 0, w = 0;
  constexpr bool trans = I == instruction::ldmatrix_trans || I == instruction::stmatrix_trans;
  if constexpr (I == instruction::ldmatrix || I == instruction::ldmatrix_trans) {
    auto const m = ldmatrix<Bits, trans>(smem + offset);
    for (int i = 0; i < Bits; ++i) x ^= m.r[i];
  } else if constexpr (I == instruction::stmatrix || I == instruction::stmatrix_trans) {
    b32<Bits> m;
    for (int i = 0; i < Bits; ++i) m.r[i] = v;
    stmatrix<Bits, trans>(smem + offset, m);
  } else if constexpr (I == instruction::ld) {
    if constexpr (Bits == 8) asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at));
    if constexpr (Bits == 16) {
      std::uint16_t h;
      asm volatile("ld.shared.u16 %0, [%1];" : "=h"(h) : "r"(at));
      x = h;
    }
    if constexpr (Bits == 32) asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
    if constexpr (Bits == 64)
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
    if constexpr (Bits == 128)
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                   : "r"(at));
  } else {
    auto const h = static_cast<std::uint16_t>(v);
    if constexpr (Bits == 8) asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(v) : "memory");
    if constexpr (Bits == 16) asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(h) : "memory");
    if constexpr (Bits == 32) asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v) : "memory");
    if constexpr (Bits == 64)
      asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(v) : "memory");
    if constexpr (Bits == 128)
      asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(v) : "memory");
  }
  return x ^ y ^ z ^ w;
}

/// Once for each of `steps` rows of addresses, by one warp.
template <instruction I, int Bits>
__global__ void counted(warp_addresses const* rows, int steps, std::uint32_t* sink) {
  extern __shared__ __align__(1024) unsigned char smem[];
  std::uint32_t x = 0;
  for (int i = 0; i < steps; ++i) {
    if ((rows[i].active >> threadIdx.x & 1U) != 0) {
      x ^= access_once<I, Bits>(smem, rows[i].at[threadIdx.x], threadIdx.x);
    }
  }
  if (x == 0x5A17ED) *sink = x;
}

TW_DEVICE std::int64_t clock_now() {
  std::int64_t t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

/// timed_accesses times by timed_warps warps; `zero` hides from the compiler that they are equal.
template <instruction I, int Bits>
__global__ void timed(warp_addresses const* row, std::uint32_t zero, std::uint32_t* sink,
                      std::int64_t* clocks) {
  extern __shared__ __align__(1024) unsigned char smem[];
  std::uint32_t at = row->at[threadIdx.x % 32], x = 0;
  bool const active = (row->active >> threadIdx.x % 32 & 1U) != 0;
  __syncthreads();
  std::int64_t const begin = clock_now();
  if (active) {
    for (int i = 0; i < timed_accesses / 16; ++i) {
      TW_UNROLL
      for (int j = 0; j < 16; ++j) {
        x ^= access_once<I, Bits>(smem, at, threadIdx.x);
        at += zero;
      }
    }
  }
  if (x == 0x5A17ED) *sink = x;
  __syncthreads();
  if (threadIdx.x == 0) *clocks = clock_now() - begin;
}

/// d += a b for K = 64 by 4 wgmmas, `rounds` times; A from registers or from shared memory.
template <int N, operand_major Major, swizzle_mode Mode, bool FromRegisters>
__global__ void __launch_bounds__(128, 1)
    operand_reads(int rounds, float* sink, std::int64_t* clocks) {
  extern __shared__ __align__(1024) unsigned char smem[];
  using tile = operand_tile<elem::bf16, Major, Mode>;
  std::uint32_t const a = smem_addr(smem), b = a + static_cast<std::uint32_t>(tile::bytes(64));
  accumulator<N> d;
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) d[i] = 0;
  std::int64_t const begin = clock_now();
  for (int r = 0; r < rounds; ++r) {
    wgmma_fence(d);
    TW_UNROLL
    for (int k = 0; k < 64; k += 16) {
      if constexpr (FromRegisters)
        wgmma<elem::bf16, Major>(d, b32<4>{0, 0, 0, 0}, tile::desc(b, N, 0, k), true);
      else
        wgmma<elem::bf16, Major, Major>(d, tile::desc(a, 64, 0, k), tile::desc(b, N, 0, k), true);
    }
    wgmma_commit();
    wgmma_wait<0>(d);
  }
  std::int64_t const end = clock_now();
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) sum += d[i];
  if (sum == 1.5F) *sink = sum;
  if (clocks != nullptr && threadIdx.x == 0) *clocks = end - begin;
}

/// One wgmma, both operands K-major by a descriptor with these byte offsets, canonical or not.
inline constexpr int descriptor_smem_bytes = 128 * 1024;
template <int N>
__global__ void __launch_bounds__(128, 1)
    descriptor_reads(std::uint32_t leading, std::uint32_t stride, swizzle_mode mode, float* sink) {
  extern __shared__ __align__(1024) unsigned char smem[];
  std::uint32_t const at = smem_addr(smem);
  smem_desc const a = make_smem_desc(at, leading, stride, mode);
  smem_desc const b = make_smem_desc(at + descriptor_smem_bytes / 2, leading, stride, mode);
  accumulator<N> d;
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) d[i] = 0;
  wgmma_fence(d);
  wgmma<elem::bf16, operand_major::k, operand_major::k>(d, a, b, true);
  wgmma_commit();
  wgmma_wait<0>(d);
  float sum = 0;
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) sum += d[i];
  if (sum == 1.5F) *sink = sum;
}

struct box_params {
  tensor_map map;
  int bytes, rounds;
  std::int64_t* clocks;
};

/// Loads a box `rounds` times, InFlight at once.
template <int InFlight>
__global__ void box_loads(__grid_constant__ box_params const p) {
  extern __shared__ __align__(1024) unsigned char smem[];
  __shared__ mbarrier landed;
  if (threadIdx.x != 0) return;
  landed.init(1);
  fence_mbarrier_init();
  fence_proxy_async();
  std::int64_t const begin = clock_now();
  for (int i = 0; i < p.rounds; i += InFlight) {
    int const n = p.rounds - i < InFlight ? p.rounds - i : InFlight;
    landed.arrive_expect_tx(n * p.bytes);
    for (int j = 0; j < n; ++j) tma_load(smem, p.map, landed, tma_coord<2>{{0, 0}});
    landed.wait(i / InFlight & 1);
  }
  if (p.clocks != nullptr) *p.clocks = clock_now() - begin;
}

}  // namespace tw::test
