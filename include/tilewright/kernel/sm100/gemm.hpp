// SPDX-License-Identifier: Apache-2.0
// gemm.hpp  A Blackwell GEMM: D = A B with bf16 or f16 operands, K-major both. A persistent kernel
//           for one CTA or a CTA pair with three roles: a warp that loads, a warp that issues the
//           multiplies, four warps of the epilogue. Two accumulators in tensor memory, so that the
//           epilogue of a tile overlaps the multiplies of the next one.
//
//   warp 0     loads A and B of a stage           waits for slot_free, arrives at ab_landed
//   warp 1     multiplies                         waits for ab_landed, commits to slot_free; waits
//                                                 for acc_free, commits to acc_full
//   warps 2-5  tensor memory -> registers ->      wait for acc_full, arrive at acc_free
//              shared memory -> D
//
// A pair computes 256 rows: each CTA loads and keeps 128 of them, and half of the columns of B. The
// even CTA issues the multiplies of both, and its ab_landed and acc_free count for both.
// This kernel has not run on hardware: the emulator executes it, and ptxas assembles it.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// Configuration of gemm_sm100.
struct sm100_config {
  elem ab = elem::bf16;  // type of A, B and D
  int ctas = 1;          // that multiply together: 1, or 2
  int tile_n = 128;      // columns of a tile
  int stages = 4;
};

struct sm100_params {
  tensor_map a, b, d;  // boxes: sm100_tiles
  int tiles_m, tiles;  // of 128 * ctas rows; all
  int k_blocks;        // of 64 elements
};

/// Sizes of a kernel's tiles, which its tensor maps have too.
template <sm100_config C>
struct sm100_tiles {
  static constexpr int k = 64;                 // elements of a stage: the span of the swizzle
  static constexpr int m = 128;                // rows of a CTA
  static constexpr int b = C.tile_n / C.ctas;  // columns of B that a CTA loads
  static constexpr int d_m = 32, d_n = 64;     // of a warp's store
};

template <sm100_config C>
struct gemm_sm100 {
  using tiles = sm100_tiles<C>;
  using params = sm100_params;

  static constexpr int load_warp = 0, multiply_warp = 1, first_epilogue_warp = 2;
  static constexpr int epilogue_warps = 4;
  static constexpr int threads = 32 * (first_epilogue_warp + epilogue_warps);
  static constexpr int cluster = C.ctas;
  static constexpr int accumulators = 2;
  static constexpr int tensor_columns = accumulators * C.tile_n;
  static constexpr int element_bytes = size_bytes(C.ab);
  static constexpr int row_bytes = tiles::k * element_bytes;
  static constexpr int a_bytes = tiles::m * row_bytes, b_bytes = tiles::b * row_bytes;
  static constexpr int stored_bytes = tiles::d_m * tiles::d_n * element_bytes;
  static constexpr int step_bytes = 32;  // of a row, in one multiply

  struct smem {
    alignas(swizzle_pattern_bytes) std::byte a[C.stages][a_bytes];
    alignas(swizzle_pattern_bytes) std::byte b[C.stages][b_bytes];
    alignas(swizzle_pattern_bytes) std::byte d[epilogue_warps][2][stored_bytes];
    mbarrier ab_landed[C.stages], slot_free[C.stages];
    mbarrier acc_full[accumulators], acc_free[accumulators];
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);

  static_assert(C.ab == elem::bf16 || C.ab == elem::f16,
                "[TW0270] the sm100 kernel multiplies bf16 or f16");
  static_assert((C.ctas == 1 || C.ctas == 2) &&
                    (C.tile_n == 64 || C.tile_n == 128 || C.tile_n == 256),
                "[TW0270] the sm100 kernel has 1 or 2 CTAs and 64, 128 or 256 columns");
  static_assert(C.stages >= 2 && smem_bytes <= max_smem_bytes,
                "[TW0206] the stages and the staging buffers need more than 227 KiB of smem");

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    set_up(p, s, warp);
    std::uint32_t const tensor = s.tensor_at;
    if (warp == load_warp) {
      if (elect_one()) load(p, s);
    } else if (warp == multiply_warp) {
      if (C.ctas == 1 || cluster_rank() == 0) multiply(p, s, tensor);
    } else {
      epilogue(p, s, tensor, warp);
    }
    together();  // tensor memory and the peer's shared memory are in use until here
    if (warp == multiply_warp) tmem_dealloc<C.ctas>(tensor, tensor_columns);
  }

 private:
  /// A barrier of all threads that execute the multiplies of a tile.
  TW_DEVICE static void together() {
    warp_sync();  // reconverge: one lane ran a role
    if constexpr (C.ctas == 1)
      cta_sync();
    else
      cluster_sync();
  }

  TW_DEVICE static void set_up(params const& p, smem& s, int warp) {
    if (warp == load_warp && elect_one()) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      tma_prefetch_map(p.d);
      for (int i = 0; i < C.stages; ++i) {
        s.ab_landed[i].init(1);
        s.slot_free[i].init(1);
      }
      for (int i = 0; i < accumulators; ++i) {
        s.acc_full[i].init(1);
        s.acc_free[i].init(epilogue_warps * C.ctas);
      }
      fence_mbarrier_init();
    }
    together();
    if (warp == multiply_warp) {
      tmem_alloc<C.ctas>(&s.tensor_at, tensor_columns);
      tmem_relinquish<C.ctas>();
    }
    cta_sync();  // all threads read tensor_at
  }

  /// f(m, n, i): the coordinates in D of the tiles of this cluster, the i-th one.
  template <class F>
  TW_DEVICE static void each_tile(params const& p, F&& f) {
    int i = 0;
    for (int t = cluster_id(); t < p.tiles; t += cluster_count(), ++i)
      f(t % p.tiles_m * tiles::m * C.ctas, t / p.tiles_m * C.tile_n, i);
  }
  /// Tile i uses accumulator i % 2, for the (i / 2)th time.
  TW_DEVICE static std::uint32_t acc_phase(int i) {
    return static_cast<std::uint32_t>(i / accumulators) & 1U;
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank = C.ctas == 1 ? 0 : cluster_rank();
    ring<C.stages> at;
    each_tile(p, [&](int m, int n, int) {
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.slot_free[at.stage].wait(at.phase ^ 1U);
        mbarrier& landed = s.ab_landed[at.stage];
        if (rank == 0) landed.arrive_expect_tx(C.ctas * (a_bytes + b_bytes));
        tma_coord const of_a{k * tiles::k, m + rank * tiles::m};
        tma_coord const of_b{k * tiles::k, n + rank * tiles::b};
        if constexpr (C.ctas == 1) {
          tma_load(s.a[at.stage], p.a, landed, of_a);
          tma_load(s.b[at.stage], p.b, landed, of_b);
        } else {
          tma_load_pair(s.a[at.stage], p.a, landed, of_a);
          tma_load_pair(s.b[at.stage], p.b, landed, of_b);
        }
      }
    });
  }

  static constexpr std::uint32_t idesc = umma_idesc{.d_format = 1,
                                                    .a_format = C.ab == elem::bf16 ? 1 : 0,
                                                    .b_format = C.ab == elem::bf16 ? 1 : 0,
                                                    .n = C.tile_n,
                                                    .m = tiles::m * C.ctas}
                                             .bits();
  TW_DEVICE static umma_desc operand(void const* tile) {
    return make_umma_desc(smem_addr(tile), 16, core_matrix_rows * row_bytes, swizzle_mode::b128);
  }
  /// To this barrier of each CTA that multiplies.
  TW_DEVICE static void commit(mbarrier& done) {
    if constexpr (C.ctas == 1)
      umma_commit(done);
    else
      umma_commit_multicast<C.ctas>(done, 0b11);
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    ring<C.stages> at;
    each_tile(p, [&](int, int, int i) {
      int const acc = i % accumulators;
      std::uint32_t const d = tmem_at(tensor, 0, acc * C.tile_n);
      s.acc_free[acc].wait(acc_phase(i) ^ 1U);
      tcgen05_fence_after();
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.ab_landed[at.stage].wait(at.phase);
        if (elect_one()) {
          umma_desc const a = operand(s.a[at.stage]), b = operand(s.b[at.stage]);
          TW_UNROLL
          for (int step = 0; step < row_bytes / step_bytes; ++step)
            umma<umma_kind::f16, C.ctas>(d, a + step * step_bytes, b + step * step_bytes, idesc,
                                         k > 0 || step > 0);
          commit(s.slot_free[at.stage]);
          if (k == p.k_blocks - 1) commit(s.acc_full[acc]);
        }
        warp_sync();
      }
    });
  }

  TW_DEVICE static void epilogue(params const& p, smem& s, std::uint32_t tensor, int warp) {
    enter_role("epilogue");
    constexpr int registers = tiles::d_n / 2;  // of a load: two for the columns of a store
    int const quarter = warp % 4, lane = lane_id();
    auto& staging = s.d[warp - first_epilogue_warp];
    int const rank = C.ctas == 1 ? 0 : cluster_rank();
    int stored = 0;
    each_tile(p, [&](int m, int n, int i) {
      int const acc = i % accumulators;
      std::uint32_t const from = tmem_at(tensor, quarter * 32, acc * C.tile_n);
      s.acc_full[acc].wait(acc_phase(i));
      tcgen05_fence_after();
      TW_NO_UNROLL
      for (int c = 0; c < C.tile_n; c += tiles::d_n, ++stored) {
        auto low = tmem_load<tmem_shape::l32x32b, registers>(tmem_at(from, 0, c));
        auto high = tmem_load<tmem_shape::l32x32b, registers>(tmem_at(from, 0, c + registers));
        tmem_wait_load(low, high);
        if (c + tiles::d_n == C.tile_n) {
          tcgen05_fence_before();
          warp_sync();
          if (lane == 0) free_accumulator(s.acc_free[acc]);
        }
        std::byte* const box = staging[stored % 2];
        if (lane == 0) tma_store_wait_read<1>();  // of the store before the last one
        warp_sync();
        write_row(box, lane, low, 0);
        write_row(box, lane, high, registers * element_bytes);
        fence_proxy_async();
        warp_sync();
        if (lane == 0) {
          tma_store(p.d, box, tma_coord{n + c, m + rank * tiles::m + quarter * tiles::d_m});
          tma_store_commit();
        }
      }
    });
    if (lane == 0) tma_store_wait_read<0>();
  }
  /// In the CTA that multiplies.
  TW_DEVICE static void free_accumulator(mbarrier& acc_free) {
    if constexpr (C.ctas == 1)
      acc_free.arrive();
    else
      acc_free.arrive_remote_relaxed(0);  // tcgen05_fence_before orders what matters
  }
  /// Row `row` of a box of 128-byte rows, from byte `at` on: 32 sums as elements of D.
  template <int N>
  TW_DEVICE static void write_row(std::byte* box, int row, b32<N> const& sums, int at) {
    struct alignas(16) chunk {
      std::uint32_t w[4];
    };
    TW_UNROLL
    for (int i = 0; i < N; i += 8) {
      chunk v;
      TW_UNROLL
      for (int j = 0; j < 4; ++j)
        v.w[j] = pack2<C.ab>(tmem_float(sums.r[i + 2 * j]), tmem_float(sums.r[i + 2 * j + 1]));
      std::uint32_t const plain =
          static_cast<std::uint32_t>(row * row_bytes + at + i * element_bytes);
      *reinterpret_cast<chunk*>(box + swizzled(plain, swizzle_mode::b128)) = v;
    }
  }
};

}  // namespace tw
