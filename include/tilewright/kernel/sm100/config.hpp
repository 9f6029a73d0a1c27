// SPDX-License-Identifier: Apache-2.0
// config.hpp  The one parameter of a Blackwell GEMM kernel: a struct of scalars.
#pragma once

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/kernel/operand_spec.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw {

/// Configuration of kernel/sm100/gemm.hpp. `ctas` CTAs, one or a pair, compute tile_m() x tile_n of
/// D at a time, in steps of one span along K through `stages` stages of shared memory.
struct sm100_config {
  operand_spec a{}, b{};  // multiplied as they are stored, from shared memory
  elem d = elem::bf16;    // type of D
  int ctas = 1;           // that multiply together: 1, or 2
  int tile_n = 128;       // columns of a tile
  int stages = 4;
  epilogue_id epilogue = epilogue_id::plain;
  bool dynamic = false;       // tiles by cluster launch control
  bool block_scales = false;  // of A and B for blocks of K (problem/scale_place.hpp)

  /// Rows of D that the CTAs compute together.
  TW_HD constexpr int tile_m() const { return sm100_cta::rows * ctas; }
  /// Elements of a step along K: one span of the swizzle.
  TW_HD constexpr int tile_k() const { return traits_of(a.multiplied).span(); }
  /// Columns of B that a CTA loads.
  TW_HD constexpr int b_share() const { return tile_n / ctas; }
  TW_HD constexpr epilogue_operands operands() const { return operands_of_epilogue(epilogue); }
  /// Does the epilogue compute more than alpha A B + beta C?
  TW_HD constexpr bool fused() const { return operands().ops; }
  TW_HD constexpr bool gated() const { return operands().gate; }
  /// Does the kernel write x, before its activation, to a second result?
  TW_HD constexpr bool aux() const { return operands().aux; }
  /// Does the kernel take batches by pointers? No fused epilogue has them (TW0425).
  TW_HD constexpr bool by_pointers() const { return !fused(); }
  /// Columns of D in a tile: those of A B, with a gate half of them.
  TW_HD constexpr int d_cols() const { return gated() ? tile_n / 2 : tile_n; }
  /// Of operands, in the shared memory of one CTA.
  TW_HD constexpr int stage_bytes() const {
    return (sm100_cta::rows + b_share()) * sm100_cta::row_bytes;
  }
  /// Six warps with a role, and one that requests tiles.
  TW_HD constexpr int threads() const { return sm100_cta::threads + (dynamic ? warp_threads : 0); }
  /// Accumulators in tensor memory: one of each of two tiles, or of each of three K blocks.
  TW_HD constexpr int accumulators() const { return block_scales ? 3 : 2; }
  /// Columns of tensor memory from which the accumulators, and with block scales the sums of a
  /// tile, lie one after another.
  TW_HD constexpr int accumulator_column(int i) const { return i * tile_n; }
  TW_HD constexpr int sums_column() const { return accumulator_column(accumulators()); }
  TW_HD constexpr int used_columns() const { return sums_column() + (block_scales ? tile_n : 0); }
  /// That a CTA allocates.
  TW_HD constexpr int tensor_columns() const { return tmem_allocation(used_columns()); }
  bool operator==(sm100_config const&) const = default;
};

}  // namespace tw
