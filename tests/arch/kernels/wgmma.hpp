// SPDX-License-Identifier: Apache-2.0
// wgmma.hpp  Kernels of wgmma: D (64, N) = A (64, 128) * B (N, 128)^T, two K blocks of 64.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"

namespace tw::test {

/// How an operand tile (extent, 64) is loaded and read: what operand_tile says about one swizzle,
/// as values, so that a kernel serves all swizzles.
struct operand_recipe {
  tensor_map map;
  int boxes, box_bytes, span;
  smem_desc step[4];  // of the tile at address 0, for k = 0, 16, 32, 48
};

constexpr int max_n = 256;

/// Where 8 elements of K of a row lie in a K-major tile of A with 128-byte swizzle, in bytes: made
/// on the host, for nvcc takes minutes for the algebra in a kernel.
struct row_offsets {
  std::uint16_t of[64][8];  // row, k / 8
};

struct wgmma_params {
  operand_recipe a, b;
  float* d;                 // (64, N), row-major
  row_offsets a_rows = {};  // where A is in registers
};

struct wgmma_smem {
  alignas(1024) std::byte a[64 * 128];
  alignas(1024) std::byte b[max_n * 128];
  mbarrier landed;
};

/// Loads K block `block` of one operand.
template <operand_major Major>
TW_DEVICE void load_operand(operand_recipe const& r, std::byte* tile, mbarrier& landed, int block) {
  for (int i = 0; i < r.boxes; ++i) {
    int const inner = i * r.span, k = 64 * block;
    tma_coord<2> const at =
        Major == operand_major::k ? tma_coord<2>{{k + inner, 0}} : tma_coord<2>{{inner, k}};
    tma_load(tile + i * r.box_bytes, r.map, landed, at);
  }
}

/// Loads K block `block` of both operands and waits for them.
template <operand_major A, operand_major B>
TW_DEVICE void load_block(wgmma_params const& p, wgmma_smem& s, int block) {
  if (thread_id() == 0) {
    s.landed.arrive_expect_tx(p.a.boxes * p.a.box_bytes + p.b.boxes * p.b.box_bytes);
    load_operand<A>(p.a, s.a, s.landed, block);
    load_operand<B>(p.b, s.b, s.landed, block);
  }
  s.landed.wait(static_cast<std::uint32_t>(block));
}

TW_DEVICE void init_landed(wgmma_smem& s) {
  if (thread_id() == 0) {
    s.landed.init(1);
    fence_mbarrier_init();
  }
  cta_sync();
}

template <int N>
TW_DEVICE void store_accumulator(float* d, accumulator<N>& acc) {
  int const t = thread_id();
  TW_UNROLL
  for (int i = 0; i < N / 2; ++i) {
    int const row = 16 * (t / 32) + t % 32 / 4 + 8 * ((i >> 1) & 1);
    int const column = 8 * (i >> 2) + 2 * (t & 3) + (i & 1);
    d[row * N + column] = acc[i];
  }
}

/// Both operands from shared memory.
template <elem AB, operand_major A, operand_major B, int N>
struct wgmma_from_smem {
  using params = wgmma_params;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(wgmma_smem);

  TW_DEVICE static void run(params const& p) {
    wgmma_smem& s = dynamic_smem<wgmma_smem>();
    init_landed(s);
    accumulator<N> acc;
    for (int block = 0; block < 2; ++block) {
      load_block<A, B>(p, s, block);
      wgmma_fence(acc);
      for (int i = 0; i < 4; ++i)
        wgmma<AB, A, B>(acc, p.a.step[i] + static_cast<int>(smem_addr(s.a)),
                        p.b.step[i] + static_cast<int>(smem_addr(s.b)), block + i > 0);
      wgmma_commit();
      wgmma_wait<0>(acc);
      cta_sync();  // all warps are done with the block
    }
    store_accumulator(p.d, acc);
  }
};

/// A by ldmatrix from a K-major tile with 128-byte swizzle, then from registers.
template <elem AB, operand_major B, int N>
struct wgmma_from_registers {
  using params = wgmma_params;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(wgmma_smem);

  TW_DEVICE static void run(params const& p) {
    wgmma_smem& s = dynamic_smem<wgmma_smem>();
    init_landed(s);
    int const row = 16 * (thread_id() / 32) + lane_id() % 16, half = lane_id() / 16;
    accumulator<N> acc;
    for (int block = 0; block < 2; ++block) {
      load_block<operand_major::k, B>(p, s, block);
      b32<4> a[4];
      TW_UNROLL
      for (int i = 0; i < 4; ++i) a[i] = ldmatrix<4>(s.a + p.a_rows.of[row][2 * i + half]);
      wgmma_fence(acc);
      TW_UNROLL
      for (int i = 0; i < 4; ++i)
        wgmma<AB, B>(acc, a[i], p.b.step[i] + static_cast<int>(smem_addr(s.b)), block + i > 0);
      wgmma_commit();
      wgmma_wait<0>(acc);
      cta_sync();
    }
    store_accumulator(p.d, acc);
  }
};

/// Two groups in flight and two accumulators: the halves of one B tile of 192 rows.
template <elem AB>
struct wgmma_two_groups {
  using params = wgmma_params;
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(wgmma_smem);
  static constexpr int n = 192, half = n / 2;

  TW_DEVICE static void run(params const& p) {
    using tile = operand_tile<AB, operand_major::k, swizzle_mode::b128>;
    wgmma_smem& s = dynamic_smem<wgmma_smem>();
    init_landed(s);
    accumulator<half> left, right;
    for (int block = 0; block < 2; ++block) {
      load_block<operand_major::k, operand_major::k>(p, s, block);
      wgmma_fence(left, right);
      for (int i = 0; i < 4; ++i)
        wgmma<AB, operand_major::k, operand_major::k>(
            left, tile::desc(smem_addr(s.a), 64, 0, 16 * i),
            tile::desc(smem_addr(s.b), n, 0, 16 * i), block + i > 0);
      wgmma_commit();
      for (int i = 0; i < 4; ++i)
        wgmma<AB, operand_major::k, operand_major::k>(
            right, tile::desc(smem_addr(s.a), 64, 0, 16 * i),
            tile::desc(smem_addr(s.b), n, half, 16 * i), block + i > 0);
      wgmma_commit();
      wgmma_wait<1>(left);
      wgmma_wait<0>(right);
      cta_sync();
    }
    store_accumulator(p.d, left);
    store_accumulator(p.d + 64 * half, right);
  }
};

}  // namespace tw::test
