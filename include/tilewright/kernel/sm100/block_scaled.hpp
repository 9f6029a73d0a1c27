// SPDX-License-Identifier: Apache-2.0
// block_scaled.hpp  A Blackwell GEMM whose operands have a scale factor for every 16 or 32 elements
//                   along K: MXFP8, MXFP6, MXFP4 and NVFP4. D = epilogue(s * sum over k of
//                   (a fa)(b fb)), where s is the second level of NVFP4's scales.
//
//   warp 0     loads A, B and their factors       waits for slot_free, arrives at landed
//   warp 1     copies the factors to tensor       waits for landed, commits to slot_free; waits for
//              memory, multiplies                 acc_free, commits to acc_full
//   warps 2-5  the epilogue (roles.hpp)           wait for acc_full, arrive at acc_free
//
// Factors lie in global memory as scale_factors_32_4_4 (atom/scale_factors.hpp): 512 bytes for 128
// rows and 4 blocks of K, an atom. Each CTA of a pair has the factors of its rows of A and of all
// columns of the tile. Copies go over the columns that the last stage's multiplies read: the commit
// of that stage orders the two.
// Columns of tensor memory: one or two accumulators, then the factors of A, then those of B.
// This kernel has not run on hardware: the emulator executes it, and ptxas assembles it.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/sm100/block_result.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"
#include "tilewright/kernel/sm100/block_scaled_params.hpp"
#include "tilewright/kernel/sm100/roles.hpp"
#include "tilewright/pipeline/ring.hpp"

namespace tw {

/// The epilogue of a kernel.
template <block_scaled_config C>
struct block_scaled_store {
  using type = sm100_epilogue<
      sm100_config{.d = C.d, .ctas = C.ctas, .tile_n = C.tile_n, .epilogue = C.epilogue}, false>;
};
template <block_scaled_config C>
requires(C.block_result()) struct block_scaled_store<C> {
  using type = sm100_block_result<
      packs_in_pairs(C.d) ? block_format::mxfp4 : block_format::mxfp8,
      sm100_epilogue<sm100_config{.d = elem::bf16,
                                  .ctas = C.ctas,
                                  .tile_n = C.tile_n,
                                  .epilogue = C.gated() ? epilogue_id::gated : epilogue_id::ops}>>;
};

template <block_scaled_config C>
struct block_scaled_sm100 {
  using params = block_scaled_params;
  using store = typename block_scaled_store<C>::type;
  using roles = sm100_roles<C.ctas, C.tile_n, C.accumulators(), store>;

  static constexpr int threads = roles::threads, cluster = C.ctas;
  static constexpr int row_bytes = roles::row_bytes, step_bytes = mma_k_bytes;
  static constexpr int b_rows = C.b_share();
  static constexpr int atom_bytes = C.atom_bytes, atom_factors = C.atom_factors;
  static constexpr int sfa_bytes = C.atoms() * atom_bytes, sfb_bytes = C.n_atoms() * sfa_bytes;
  /// Of a CTA, without the padding of its elements.
  static constexpr int landed_bytes =
      roles::rows * C.row_data_bytes(C.a) + b_rows * C.row_data_bytes(C.b) + sfa_bytes + sfb_bytes;

  struct smem {
    alignas(swizzle_pattern_bytes) std::byte a[C.stages][roles::rows * row_bytes];
    alignas(swizzle_pattern_bytes) std::byte b[C.stages][b_rows * row_bytes];
    alignas(
        swizzle_pattern_bytes) std::byte d[roles::epilogue_warps][roles::boxes][store::box_bytes];
    alignas(tma_box_alignment) std::byte sfa[C.stages][sfa_bytes];  // [K][128 rows]
    alignas(tma_box_alignment) std::byte sfb[C.stages][sfb_bytes];  // [N][K][128 columns]
    mbarrier landed[C.stages], slot_free[C.stages];
    mbarrier acc_full[C.accumulators()], acc_free[C.accumulators()];
    std::uint32_t tensor_at;
  };
  static constexpr int smem_bytes = sizeof(smem);

  static_assert(is_exponent(C.scale) ? C.block == 32
                                     : has_second_level(C.scale) && C.block == 16 && C.dense(),
                "[TW0271] factors are ue8m0 for 32 elements; of NVFP4, which is e2m1 by e2m1, "
                "ue4m3 for 16");
  static_assert((C.ctas == 1 || C.ctas == 2) &&
                    (C.tile_n == 64 || C.tile_n == 128 || C.tile_n == 192 || C.tile_n == 256),
                "[TW0271] the block-scaled kernel has 1 or 2 CTAs and 64, 128, 192 or 256 columns");
  static_assert(!C.gated() || C.tile_n == 256,
                "[TW0271] with a gate a tile has the factors of 128 gates and of 128 columns that "
                "they multiply");
  static_assert(!C.block_result() || (C.d_cols() % scale_block_cols == 0 && C.operands().scales),
                "[TW0271] a block-scaled D is written in tiles of 128 or 256 columns");
  static_assert(C.stages >= 2 && smem_bytes <= max_smem_bytes,
                "[TW0206] the stages and the staging buffers need more than 227 KiB of smem");

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const warp = warp_id();
    set_up(p, s, warp);
    std::uint32_t const tensor = s.tensor_at;
    if (warp == roles::load_warp) {
      if (elect_one()) load(p, s);
    } else if (warp == roles::multiply_warp) {
      if (C.ctas == 1 || cluster_rank() == 0) multiply(p, s, tensor);
    } else {
      if constexpr (C.block_result())
        block_result_epilogue<roles, store, C.tile_n, C.ctas, C.accumulators()>(
            s, p.epilogue, tensor, warp, p.second.value(), [&](auto&& f) { each_tile(p, f); });
      else
        roles::epilogue(s, p.epilogue, tensor, warp, p.second.value(),
                        [&](auto&& f) { each_tile(p, f); });
    }
    roles::template free_tensor_memory<C.tensor_columns()>(warp, tensor);
  }

 private:
  /// f(tile, i): the tiles of this cluster, the i-th one.
  template <class F>
  TW_DEVICE static void each_tile(params const& p, F&& f) {
    int i = 0;
    for (int t = cluster_id(); t < p.walk.order.tiles(); t += cluster_count(), ++i)
      f(p.walk.place(t), i);
  }

  TW_DEVICE static void set_up(params const& p, smem& s, int warp) {
    if (warp == roles::load_warp && elect_one()) {
      tma_prefetch_map(p.a);
      tma_prefetch_map(p.b);
      tma_prefetch_map(p.sfa);
      tma_prefetch_map(p.sfb);
      if (p.epilogue.tma_end > 0) tma_prefetch_map(p.epilogue.d);
      roles::init_barriers(s.landed, s.slot_free, s.acc_full, s.acc_free);
    }
    roles::template alloc_tensor_memory<C.tensor_columns()>(warp, s.tensor_at);
  }

  TW_DEVICE static void load(params const& p, smem& s) {
    enter_role("load");
    int const rank = roles::rank();
    ring<C.stages> at;
    each_tile(p, [&](tile_place const& tile, int) {
      int const m_atom = tile.m * C.ctas + rank;
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.slot_free[at.stage].wait(at.phase ^ 1U);
        mbarrier& landed = s.landed[at.stage];
        if (rank == 0) landed.arrive_expect_tx(C.ctas * landed_bytes);
        int const atoms = 2 * k * C.atoms();
        auto const index = [&](int batched) { return batched != 0 ? tile.batch : 0; };
        roles::load_box(s.a[at.stage], p.a, landed,
                        tma_coord{k * C.tile_k(), m_atom * roles::rows, index(p.a_batched)});
        roles::load_box(s.sfa[at.stage], p.sfa, landed,
                        tma_coord{0, atoms, m_atom, index(p.sfa_batched)});
        load_b(s, at.stage, p, landed, tile.n, k, index(p.b_batched), index(p.sfb_batched));
      }
    });
  }
  /// A CTA's part of B, and the factors of all columns of the tile. With a gate one CTA has gates,
  /// then what they multiply; in a pair the even CTA has gates, and the odd one what they multiply.
  TW_DEVICE static void load_b(smem& s, int stage, params const& p, mbarrier& landed, int tile,
                               int k, int b_at, int factors_at) {
    int const rank = roles::rank(), atoms = 2 * k * C.atoms();
    if constexpr (C.gated()) {
      constexpr int columns = C.d_cols();
      TW_UNROLL
      for (int i = 0; i < 2 / C.ctas; ++i)
        roles::load_box(s.b[stage] + i * columns * row_bytes, p.b, landed,
                        tma_coord{k * C.tile_k(), tile * columns, C.ctas == 1 ? i : rank, b_at});
      TW_UNROLL
      for (int part = 0; part < 2; ++part)
        roles::load_box(s.sfb[stage] + part * sfa_bytes, p.sfb, landed,
                        tma_coord{0, atoms, tile + part * p.up_atom, factors_at});
    } else {
      int const n = tile * C.tile_n;
      roles::load_box(s.b[stage], p.b, landed, tma_coord{k * C.tile_k(), n + rank * b_rows, b_at});
      roles::load_box(s.sfb[stage], p.sfb, landed,
                      tma_coord{0, atoms, n / C.atom_rows, factors_at});
    }
  }

  static constexpr int factors = umma_k(C.kind()) / C.block;  // of a row, in a multiply
  static constexpr std::uint32_t first_idesc =
      umma_scaled_idesc{.a_format = idesc_format(C.kind(), C.a),
                        .b_format = idesc_format(C.kind(), C.b),
                        .n = C.tile_n,
                        .m = C.tile_m(),
                        .ue8m0 = is_exponent(C.scale)}
          .bits();
  /// With the factors of A and of B from byte `id` of their columns on (umma_scaled_idesc).
  TW_DEVICE static std::uint32_t idesc(int id) {
    auto const bits = static_cast<std::uint32_t>(id);
    return first_idesc | bits << 4 | bits << 29;
  }
  TW_DEVICE static umma_desc operand(void const* tile) {
    return make_umma_desc(smem_addr(tile), core_matrix_row_bytes, core_matrix_rows * row_bytes,
                          swizzle_mode::b128);
  }
  /// `count` atoms, `columns` apart in tensor memory, four columns each.
  TW_DEVICE static void copy_factors(std::uint32_t to, std::byte const* from, int columns) {
    TW_UNROLL
    for (int i = 0; i < C.atoms(); ++i)
      tmem_copy<tmem_copy_shape::c32x128b_x4, C.ctas>(
          tmem_at(to, 0, i * columns),
          make_umma_desc(smem_addr(from + i * atom_bytes), core_matrix_row_bytes,
                         core_matrix_rows * core_matrix_row_bytes, swizzle_mode::none));
  }

  TW_DEVICE static void multiply(params const& p, smem& s, std::uint32_t tensor) {
    enter_role("multiply");
    constexpr int a_columns = scale_columns_of_128_rows, b_columns = a_columns * C.n_atoms();
    std::uint32_t const sfa = tmem_at(tensor, 0, C.a_factors_column());
    std::uint32_t const sfb = tmem_at(tensor, 0, C.b_factors_column());
    ring<C.stages> at;
    each_tile(p, [&](tile_place const& tile, int i) {
      int const acc = i % C.accumulators();
      std::uint32_t const d = tmem_at(tensor, 0, C.accumulator_column(acc));
      // The column of the tile's factors in an atom, a column of which has 32 rows.
      int const first = tile.n * C.tile_n % C.atom_rows / (C.atom_rows / a_columns);
      s.acc_free[acc].wait(roles::acc_phase(i) ^ 1U);
      tcgen05_fence_after();
      for (int k = 0; k < p.k_blocks; ++k, at.next()) {
        s.landed[at.stage].wait(at.phase);
        if (elect_one()) {
          copy_factors(sfa, s.sfa[at.stage], a_columns);
          TW_UNROLL
          for (int j = 0; j < C.n_atoms(); ++j)
            copy_factors(tmem_at(sfb, 0, a_columns * j), s.sfb[at.stage] + j * sfa_bytes,
                         b_columns);
          umma_desc const a = operand(s.a[at.stage]), b = operand(s.b[at.stage]);
          TW_UNROLL
          for (int step = 0; step < roles::stage_multiplies; ++step) {
            int const atom = step * factors / atom_factors, id = step * factors % atom_factors;
            umma_scaled<C.kind(), C.block, C.ctas>(d, a + step * step_bytes, b + step * step_bytes,
                                                   idesc(id), tmem_at(sfa, 0, a_columns * atom),
                                                   tmem_at(sfb, 0, atom * b_columns + first),
                                                   k > 0 || step > 0);
          }
          roles::commit(s.slot_free[at.stage]);
          if (k == p.k_blocks - 1) roles::commit(s.acc_full[acc]);
        }
        warp_sync();
      }
    });
  }
};

}  // namespace tw
