// SPDX-License-Identifier: Apache-2.0
// registers_kernel.hpp  A 192 x 192 GEMM by two math warpgroups with wgmma, six epilogues: what
//                       does the way into shared memory cost in registers?
//
// Every thread holds 144 sums. They are rounded to f16 and written to the tile of D in shared
// memory, from where TMA stores it. One warpgroup loads, two multiply: 384 threads, 12 warps.
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw_test {

enum class writer : std::uint8_t { st16, st32, stmatrix4 };

/// How a store finds its place: the thread's place, computed once, and a constant xor and sum; the
/// thread's offset and a constant, then the swizzle; or everything from its row and column.
enum class address : std::uint8_t { stepped, swizzled, coordinates };

/// mma_n: N of the instruction; by_turns: warpgroups take turns every 8 columns; bounded: to be
/// compiled for 384 threads, whose 168 registers each the warpgroups then share out anew.
struct writing {
  int mma_n;
  tw::swizzle_mode smem;
  writer how;
  address from;
  bool by_turns = false;
  bool bounded = false;
};

/// D (m, n) row-major f16 = A (m, k) * B (n, k)^T, whole tiles only.
struct writing_params {
  alignas(64) tw::tensor_map a, b, d;  // boxes (192, 64), (192, 64), (192, span)
  int k_tiles, tiles_m, tiles_n;
};

template <writing W>
struct writing_kernel {
  static constexpr int tile = 192, tile_k = 64, stages = 3, threads = 384, cluster = 1;
  static constexpr int steps_m = tile / 64, steps_n = tile / (2 * W.mma_n);
  static constexpr int span = tw::swizzle_span_bytes(W.smem) / 2;  // columns of a box
  using operand = tw::operand_tile<tw::elem::f16, tw::operand_major::k, tw::swizzle_mode::b128>;

  /// (row, column) of the tile -> its place in shared memory.
  static constexpr tw::layout d_layout = [] {
    int const bits = span == 64 ? 3 : span == 32 ? 2 : span == 16 ? 1 : 0;
    tw::layout const rows = make_layout(tw::layout(8, span), tw::layout(span, 1));
    return tile_to_shape(swizzled(tw::swizzle{bits, 3, 3}, rows), tw::make_shape(tile, tile));
  }();

  struct smem {
    alignas(1024) std::byte a[stages][tile * tile_k * 2];
    alignas(1024) std::byte b[stages][tile * tile_k * 2];
    alignas(1024) std::uint16_t d[tile * tile];
    tw::mbarrier ab_landed[stages], slot_free[stages];
  };
  static constexpr int smem_bytes = sizeof(smem);
  using params = writing_params;

  TW_DEVICE static void run(params const& p) {
    smem& s = tw::dynamic_smem<smem>();
    if (tw::thread_id() == 0) {
      for (int i = 0; i < stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init(2);
      }
      tw::fence_mbarrier_init();
    }
    tw::cta_sync();
    if (tw::warpgroup_id() == 0) {
      if constexpr (W.bounded) tw::set_max_regs_dec<40>();
      if (tw::warp_id() == 0 && tw::elect_one()) load(p, s);
    } else {
      if constexpr (W.bounded) tw::set_max_regs_inc<232>();
      math(p, s, tw::warpgroup_id() - 1);
    }
  }

 private:
  using sums = tw::accumulator<W.mma_n>[steps_m][steps_n];

  TW_DEVICE static void load(params const& p, smem& s) {
    tw::ring<stages> slot;
    for (int t = tw::cta_id(); t < p.tiles_m * p.tiles_n; t += tw::cta_count()) {
      for (int k = 0; k < p.k_tiles; ++k, slot.next()) {
        s.slot_free[slot.stage].wait(slot.phase ^ 1U);
        tw::mbarrier& landed = s.ab_landed[slot.stage];
        landed.arrive_expect_tx(2 * tile * tile_k * 2);
        tma_load(s.a[slot.stage], p.a, landed, tw::tma_coord{k * tile_k, t / p.tiles_n * tile});
        tma_load(s.b[slot.stage], p.b, landed, tw::tma_coord{k * tile_k, t % p.tiles_n * tile});
      }
    }
  }

  TW_DEVICE static void math(params const& p, smem& s, int w) {
    tw::ring<stages> slot;
    for (int t = tw::cta_id(); t < p.tiles_m * p.tiles_n; t += tw::cta_count()) {
      sums acc;
      for (int k = 0; k < p.k_tiles; ++k, slot.next()) {
        s.ab_landed[slot.stage].wait(slot.phase);
        multiply(acc, s.a[slot.stage], s.b[slot.stage], w, k > 0);
        if (tw::thread_id() % 128 == 0) s.slot_free[slot.stage].arrive();
      }
      bool const leader = tw::thread_id() == 128;
      if (leader) tw::tma_store_wait_read<0>();
      tw::named_barrier_sync(1, 256);
      write(s.d, acc, w);
      tw::fence_proxy_async();
      tw::named_barrier_sync(1, 256);
      if (leader) {
        for (int i = 0; i < tile / span; ++i) {
          tma_store(p.d, s.d + i * tile * span,
                    tw::tma_coord{t % p.tiles_n * tile + i * span, t / p.tiles_n * tile});
        }
        tw::tma_store_commit();
      }
    }
    if (tw::thread_id() == 128) tw::tma_store_wait_read<0>();
  }

  /// Every 8 rows of B belong to the warpgroups in turn: twice the stride between groups of 8.
  TW_DEVICE static tw::smem_desc b_desc(std::byte* b, int w, int step_n, int k) {
    if constexpr (W.by_turns) {
      tw::smem_desc const one =
          operand::desc(tw::smem_addr(b), tile, step_n * 2 * W.mma_n + 8 * w, k);
      return make_smem_desc(one.address(), one.leading_bytes(), 2 * one.stride_bytes(),
                            one.swizzle());
    } else {
      return operand::desc(tw::smem_addr(b), tile, (2 * step_n + w) * W.mma_n, k);
    }
  }

  TW_DEVICE static void multiply(sums& acc, std::byte* a, std::byte* b, int w, bool accumulate) {
    TW_UNROLL
    for (int i = 0; i < steps_m * steps_n; ++i) wgmma_fence(acc[i / steps_n][i % steps_n]);
    TW_UNROLL
    for (int k = 0; k < tile_k; k += 16) {
      TW_UNROLL
      for (int i = 0; i < steps_m * steps_n; ++i) {
        tw::wgmma<tw::elem::f16, tw::operand_major::k, tw::operand_major::k>(
            acc[i / steps_n][i % steps_n],
            operand::desc(tw::smem_addr(a), tile, 64 * (i / steps_n), k),
            b_desc(b, w, i % steps_n, k), accumulate || k > 0);
      }
    }
    tw::wgmma_commit();
    TW_UNROLL
    for (int i = 0; i < steps_m * steps_n; ++i) {
      tw::wgmma_wait<0>(acc[i / steps_n][i % steps_n]);
    }
  }

  TW_DEVICE static std::uint32_t pair(tw::accumulator<W.mma_n>& acc, int i) {
    return tw::pack2<tw::elem::f16>(acc[i], acc[i + 1]);
  }

  /// The place of (first_row + row, first_col + col): the first ones are the thread's, row and col
  /// are constants. `stepped` needs a partition: then the bits that the swizzle reads stay as they
  /// are from step to step, and those that it changes are not the thread's.
  TW_DEVICE static std::uint32_t place(int first_row, int first_col, int row, int col) {
    if constexpr (W.from == address::coordinates) {
      return tw::offset<d_layout>(first_row + row, first_col + col);
    } else {
      std::uint32_t const step = tw::offset<linear_part(d_layout)>(row, col);
      if constexpr (W.from == address::swizzled) {
        constexpr tw::swizzle sw = d_layout.sw;
        return sw(tw::offset<linear_part(d_layout)>(first_row, first_col) + step);
      } else {
        constexpr auto changed = static_cast<std::uint32_t>(d_layout.sw.z_mask());
        std::uint32_t const first = tw::offset<d_layout>(first_row, first_col);
        return (first ^ (step & changed)) + (step & ~changed);
      }
    }
  }

  TW_DEVICE static void write(std::uint16_t* d, sums& acc, int w) {
    int const lane = tw::lane_id();
    constexpr bool matrices = W.how == writer::stmatrix4;
    constexpr int next = W.by_turns ? 16 : 8;  // columns from one group of 8 to the next
    int const row = 16 * (tw::warp_id() % 4) + (matrices ? lane % 16 : lane / 4);
    int const col =
        w * (W.by_turns ? 8 : W.mma_n) + (matrices ? next * (lane / 16) : 2 * (lane % 4));
    TW_UNROLL
    for (int i = 0; i < steps_m * steps_n; ++i) {
      tw::accumulator<W.mma_n>& part = acc[i / steps_n][i % steps_n];
      int const r = 64 * (i / steps_n), c = i % steps_n * 2 * W.mma_n;
      TW_UNROLL
      for (int j = 0; j < W.mma_n / 8; j += matrices ? 2 : 1) {
        if constexpr (matrices) {
          tw::b32<4> const v{{pair(part, 4 * j), pair(part, 4 * j + 2), pair(part, 4 * j + 4),
                              pair(part, 4 * j + 6)}};
          tw::stmatrix<4>(d + place(row, col, r, c + next * j), v);
        } else {
          TW_UNROLL
          for (int h = 0; h < 2; ++h) {
            std::uint32_t const v = pair(part, 4 * j + 2 * h);
            std::uint16_t* const at = d + place(row, col, r + 8 * h, c + next * j);
            if constexpr (W.how == writer::st32) {
              *reinterpret_cast<std::uint32_t*>(at) = v;
            } else {
              at[0] = static_cast<std::uint16_t>(v);
              at[1] = static_cast<std::uint16_t>(v >> 16U);
            }
          }
        }
      }
    }
  }
};

}  // namespace tw_test
