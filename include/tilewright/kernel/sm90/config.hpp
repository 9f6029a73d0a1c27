// SPDX-License-Identifier: Apache-2.0
// config.hpp  The one parameter of a GEMM kernel: a struct of scalars. Bytes and counts follow.
#pragma once

#include <cstdint>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/operand_spec.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/groups.hpp"
#include "tilewright/problem/weight_format.hpp"

namespace tw {

/// How a kernel keeps its sums over K:
///   plain          as the tensor core does: float32, or s32 of integers
///   promoted_128   8-bit floats: the tensor core's sum is added to a float32 sum in registers
///                  every 128 elements of K (problem/precision.hpp)
///   promoted_64    every 64
///   f16            f16 operands: in f16
///   scaled         8-bit floats: promoted_128, each sum times the scales of A and B of its K block
///                  (problem/scale_place.hpp)
///   scaled_64      8-bit floats: promoted_64, each sum times the scales of A and B of its K block
///   scaled_columns scaled, in tiles whose fragments share an accumulator: with a scale of B for
///                  each column, where `scaled` has one or two for a tile
enum class sum_form : std::uint8_t {
  plain,
  promoted_128,
  promoted_64,
  f16,
  scaled,
  scaled_64,
  scaled_columns
};

/// The kinds of main loops, each in its file of kernel/sm90/mainloop.
enum class mainloop_kind : std::uint8_t {
  from_smem,                // from_smem.hpp
  f16_sums,                 // from_smem.hpp
  narrow,                   // narrow.hpp
  from_registers,           // from_registers.hpp
  promoted,                 // promoted.hpp
  promoted_from_registers,  // promoted_from_registers.hpp
  fragments_in_turn,        // fragments_in_turn.hpp
  parts_in_turn,            // parts_in_turn.hpp
  block_scaled              // block_scaled.hpp
};

/// Configuration of kernel/sm90/gemm.hpp. tile_* in elements, cluster_* in CTAs.
struct gemm_config {
  operand_spec a{}, b{};
  elem d = elem::bf16;    // output type
  bool d_m = false;       // D is M-major (column-major): swap-AB kernels
  bool pingpong = false;  // two warpgroups work on two tiles in turn, else all on one tile
  int tile_m = 128, tile_n = 256;
  int min_tile_n = 0;  // not 0: a launch chooses the columns of its tiles, min_tile_n to tile_n
  int cluster_m = 2, cluster_n = 1;
  int cluster_k = 1;  // CTAs that each multiply a part of K of the same tile
  int k_turns = 1;    // consumers that share rows and take K blocks in turn (turn_sums.hpp)
  int stages = 4;
  epilogue_id epilogue = epilogue_id::plain;
  sum_form sums = sum_form::plain;
  /// Which extent groups divide, whose sizes are in device memory (pipeline/group_table.hpp).
  group_axis ragged = group_axis::none;

  TW_HD constexpr bool grouped() const { return ragged != group_axis::none; }
  /// Can a tile have no K block? An empty group of K has none, and K may have fewer blocks than a
  /// cluster has CTAs that divide it.
  TW_HD constexpr bool may_lack_blocks() const { return cluster_k > 1 || ragged == group_axis::k; }

  /// Gated kernels: gate and up columns of A B alternate in groups of this many.
  static constexpr int gate_group = wgmma_n_step;

  /// Can warps gather the rows of A (columns of B) that groups divide (gather_rows.hpp)? Of a
  /// K-major operand that no other CTA shares.
  TW_HD constexpr bool gathers() const {
    if (stages < 4 || (a_in_registers() && !weights())) return false;
    if (ragged == group_axis::m) return !a.is_mn_major() && cluster_n == 1;
    return ragged == group_axis::n && !b.is_mn_major() && cluster_m == 1;
  }
  /// Do groups divide lines of D that are contiguous in memory? Those may be scattered.
  TW_HD constexpr bool divides_d_lines() const {
    return d_m ? ragged == group_axis::n : ragged == group_axis::m;
  }

  /// Do A and B have scales in the main loop?
  TW_HD constexpr bool scaled() const {
    return sums == sum_form::scaled || sums == sum_form::scaled_64 ||
           sums == sum_form::scaled_columns;
  }
  /// Has a thread registers left to read C of 16 bits two columns at a time (add_c.hpp)? Kernels
  /// that quantise D or have one of 8 bits have not, nor have kernels with scales and a gate, nor
  /// have kernels of groups.
  /// If D is column-major, the columns of C are seldom adjacent.
  TW_HD constexpr bool reads_c_in_pairs() const {
    return !operands().scales && !d_m && !(scaled() && gated()) && !grouped() && size_bytes(d) > 1;
  }
  /// Do consumers load C by TMA, or prefetch C to L2, before their main loop? Not in kernels of
  /// groups of rows or columns, of CTAs that divide K, and of swap-AB (a small C). In the largest
  /// tiles of 8-bit operands without promotion, threads have too few registers for it.
  TW_HD constexpr bool begins_c() const {
    return (!grouped() || ragged == group_axis::k) && cluster_k == 1 && !d_m &&
           (size_bytes(a.multiplied) > 1 || fragments() * tile_n < 256 || promote_k() > 0);
  }
  /// Can TMA bring C to the staging buffers of D (epilogue/staged_c.hpp)? Of a D of 16 or 32 bits.
  /// Tiles of 192 x 192 and more, kernels that convert sums of f16, and a fused epilogue of
  /// ping-pong tiles of 128 x 192 lack the registers. A fused epilogue of scaled sums has one
  /// staging buffer, too few to load C while D is stored.
  TW_HD constexpr bool loads_c() const {
    return begins_c() && !aux() && !operands().scales &&
           !(fused() && (scaled() || (pingpong && tile_n > 128))) && !a_in_registers() &&
           size_bytes(d) >= 2 && !is_integer(d) && tile_m * tile_n < 192 * 192 &&
           sums != sum_form::f16;
  }
  /// Can bulk copies load the row scales? With the code for it ptxas spills the largest kernel
  /// with a gate.
  TW_HD constexpr bool bulk_copies_scales() const { return scaled() && (!gated() || in_turn()); }
  /// Shared memory for the row and column scales, of each stage.
  TW_HD constexpr int scale_bytes() const {
    return scaled() ? stages * (tile_m + tile_n) * size_bytes(elem::f32) : 0;
  }
  /// Elements of K between two promotions of the sums; 0: never.
  TW_HD constexpr int promote_k() const {
    switch (sums) {
      case sum_form::promoted_128:
      case sum_form::scaled:
      case sum_form::scaled_columns: return 128;
      case sum_form::promoted_64:
      case sum_form::scaled_64: return 64;
      default: return 0;
    }
  }
  /// Columns whose sums are promoted together. Of 256 columns the tensor core's sums do not fit in
  /// the registers beside the float32 ones: it multiplies part after part; with the scales of the
  /// columns quarters.
  TW_HD constexpr int promoted_n() const {
    if (promote_k() == 0 || fragments() * tile_n <= 208) return tile_n;
    return tile_n / (scaled() ? 4 : 2);
  }
  /// Do the fragments of a warpgroup use one accumulator of wgmma in turn? Two accumulators do not
  /// fit in the registers beside the promoted sums of 256 x 128.
  TW_HD constexpr bool in_turn() const {
    return promote_k() == tile_k() && fragments() == 2 && tile_n <= 128;
  }
  /// Do the K blocks of a warpgroup use two accumulators of wgmma in turn? Three warpgroups lack
  /// the registers.
  TW_HD constexpr bool parts_in_turn() const {
    return promote_k() == tile_k() && fragments() == 1 && math_warpgroups() <= 2 && tile_n <= 128 &&
           !a_in_registers();
  }
  TW_HD constexpr bool integer_sums() const {
    return traits_of(a.multiplied).sums == accumulation::s32;
  }

  /// K of a tile: one span of the widest swizzle, in elements that are multiplied.
  TW_HD constexpr int tile_k() const { return traits_of(a.multiplied).span(); }
  /// A K block of A and of B in shared memory.
  TW_HD constexpr int a_bytes() const {
    if (weights()) return tile_m / weight_block * weights().block_bytes();
    return tile_m * tile_k() * size_bytes(a.stored);
  }
  TW_HD constexpr int b_bytes() const { return tile_n * tile_k() * size_bytes(b.stored); }
  TW_HD constexpr int stage_bytes() const { return a_bytes() + b_bytes(); }

  /// True if tile_n is chosen at launch: a multiple of 8, equal for all tiles, because a wave takes
  /// as long as its widest tile (docs/decisions/0028).
  TW_HD constexpr bool varies_tile_n() const { return min_tile_n != 0; }

  /// wgmma reads 8-bit and 32-bit operands from shared memory K-major only. Consumers read an A
  /// that is MN-major there themselves, and multiply it from registers (register_a.hpp); weights of
  /// 4 bits too (weights_a.hpp).
  TW_HD constexpr bool a_in_registers() const { return a.from != operand_source::shared_memory; }
  /// Does a consumer decode a K block of weights while its wgmmas multiply the block before? With
  /// six consumers a thread has registers for one block only.
  TW_HD constexpr bool decodes_ahead() const { return consumers() < 6; }
  /// The format of A, if it is prepared weights of 4 bits; `group` is 16, 32 or 64, the elements of
  /// a block that share a scale.
  TW_HD constexpr weight_format weights() const { return a.weights(); }
  TW_HD constexpr mainloop_kind mainloop() const {
    return in_turn()                             ? mainloop_kind::fragments_in_turn
           : parts_in_turn()                     ? mainloop_kind::parts_in_turn
           : scaled()                            ? mainloop_kind::block_scaled
           : promote_k() > 0 && a_in_registers() ? mainloop_kind::promoted_from_registers
           : promote_k() > 0                     ? mainloop_kind::promoted
           : a_in_registers()                    ? mainloop_kind::from_registers
           : varies_tile_n()                     ? mainloop_kind::narrow
           : sums == sum_form::f16               ? mainloop_kind::f16_sums
                                                 : mainloop_kind::from_smem;
  }
  TW_HD constexpr int cluster() const { return cluster_m * cluster_n * cluster_k; }
  /// Rows of an MN-major A are loaded in whole spans of the swizzle.
  TW_HD constexpr swizzle_mode a_swizzle() const {
    return a.is_mn_major() && tile_m % traits_of(a.stored).span() != 0 ? swizzle_mode::b64
                                                                       : swizzle_mode::b128;
  }
  /// A K block's row of a K-major operand is a span of the widest swizzle, and columns of an
  /// MN-major B are where they are whole spans of it.
  TW_HD constexpr swizzle_mode b_swizzle() const {
    return b.is_mn_major() && tile_n / cluster_m % traits_of(b.stored).span() != 0
               ? swizzle_mode::b64
               : swizzle_mode::b128;
  }
  /// Warpgroups that compute different rows of D.
  TW_HD constexpr int math_warpgroups() const {
    return pingpong || tile_m == 4 * wgmma_m ? 2 : tile_m / wgmma_m;
  }
  /// Warpgroups that multiply.
  TW_HD constexpr int consumers() const { return k_turns * math_warpgroups(); }
  /// Rows of the tile that one of them computes, in steps of 64: the M of wgmma.
  TW_HD constexpr int warpgroup_m() const { return pingpong ? tile_m : tile_m / math_warpgroups(); }
  /// CTAs of a cluster that own columns of a sum over cluster_k, and how many columns each has.
  TW_HD constexpr int owners() const {
    int n = cluster_k;
    while (n > 1 && tile_n % (wgmma_n_step * n) != 0) --n;
    return n;
  }
  TW_HD constexpr int part_n() const { return tile_n / owners(); }
  /// Columns of D of a CTA's tile, of all owners.
  TW_HD constexpr int cols_of_d() const { return gates_cols() ? tile_n / 2 : tile_n; }
  /// Warpgroups of a cluster that each add their part of a split-K tile, warpgroup_m x tile_n.
  TW_HD constexpr int writers() const { return cluster_m * cluster_n * math_warpgroups(); }
  /// Fragments of 64 rows in a warpgroup.
  TW_HD constexpr int fragments() const { return warpgroup_m() / wgmma_m; }
  TW_HD constexpr epilogue_operands operands() const { return operands_of_epilogue(epilogue); }
  /// Does the epilogue compute more than alpha A B + beta C? The common kernels do not and stay
  /// small.
  TW_HD constexpr bool fused() const { return operands().ops; }
  TW_HD constexpr bool gated() const { return operands().gate; }
  /// Does a gate pair rows of A B, which are columns of the GEMM as requested? Prepared weights as
  /// A have gate and up rows 8 apart, so that a thread has both (kernel/weights/weights.hpp).
  TW_HD constexpr bool gates_rows() const { return gated() && weights(); }
  /// Or does it pair columns?
  TW_HD constexpr bool gates_cols() const { return gated() && !weights(); }
  /// Row of D for a row of A B that begins 8 gates, or none.
  TW_HD constexpr int row_of_d(int row) const { return gates_rows() ? row / 2 : row; }
  /// Does the kernel write x, before its activation, to a second result?
  TW_HD constexpr bool aux() const { return operands().aux; }
  /// Does the kernel take batches by pointers? Fused epilogues have no registers left for them.
  TW_HD constexpr bool by_pointers() const { return !fused(); }
  /// Can several clusters share a tile's K range? A tile that is fast when it is whole gained
  /// nothing from it (docs/decisions/0019), and its accumulators leave few registers for adding
  /// parts. Nor do clusters of four (0023).
  TW_HD constexpr bool shares_tiles() const {
    return !grouped() && !pingpong && !varies_tile_n() && fragments() == 1 && tile_n <= 128 &&
           cluster_k == 1 && cluster() <= 2 && !finds_amax_along_m();
  }
  /// Does the epilogue find the largest magnitudes of columns of a tile: of rows of the requested
  /// D, of which swap-AB computes the transpose? Both warpgroups of a CTA take part.
  TW_HD constexpr bool finds_amax_along_m() const { return d_m && operands().scales; }
  /// Columns of D that a warpgroup stores: part_n, with a gate of columns half of them.
  TW_HD constexpr int d_cols() const { return gates_cols() ? part_n() / 2 : part_n(); }
  /// Rows of D of a fragment.
  TW_HD constexpr int d_rows() const { return row_of_d(wgmma_m); }
  bool operator==(gemm_config const&) const = default;
};

/// Does a kernel without a fused epilogue multiply row and column scales? Kernels of 8-bit
/// operands do; of others those would be code that costs the usual GEMM. Ping-pong kernels lack the
/// registers.
TW_HD constexpr bool takes_scales(gemm_config const& c) {
  return c.operands() == epilogue_operands{} && size_bytes(c.a.multiplied) == 1 &&
         !holds_integer_sums(c.d) && !c.pingpong;
}

}  // namespace tw
