// SPDX-License-Identifier: Apache-2.0
// config.hpp  The one parameter of an Ampere GEMM kernel: a struct of scalars.
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"
#include "tilewright/problem/epilogue_kind.hpp"

namespace tw {

/// Configuration of kernel/sm80/gemm.hpp. A CTA computes tile_m x tile_n of A B, which its warps_m
/// x warps_n warps share in equal blocks, in steps of tile_k along K through `stages` stages of
/// shared memory.
struct sm80_config {
  elem ab = elem::bf16;  // operand type
  elem d = elem::bf16;   // output type
  bool a_mn = false;     // A is MN-major
  bool b_mn = false;     // B is MN-major
  int tile_m = 128, tile_n = 128, tile_k = 32;
  int warps_m = 2, warps_n = 2;
  int stages = 4;
  int mma_k = 16;  // of the instruction: 16 or 8
  epilogue_id epilogue = epilogue_id::plain;
  bool f16_sums = false;  // the tensor cores keep sums of f16 operands in f16

  /// Elements of a 16-byte copy.
  static constexpr int chunk = 8;

  TW_HD constexpr operand_major a_major() const {
    return a_mn ? operand_major::mn : operand_major::k;
  }
  TW_HD constexpr operand_major b_major() const {
    return b_mn ? operand_major::mn : operand_major::k;
  }
  TW_HD constexpr int threads() const { return 32 * warps_m * warps_n; }
  /// Rows and columns of A B that a warp computes.
  TW_HD constexpr int warp_m() const { return tile_m / warps_m; }
  TW_HD constexpr int warp_n() const { return tile_n / warps_n; }
  TW_HD constexpr int stage_bytes() const { return (tile_m + tile_n) * tile_k * size_bytes(ab); }

  TW_HD constexpr epilogue_operands operands() const { return operands_of_epilogue(epilogue); }
  /// Does the epilogue compute more than alpha A B + beta C?
  TW_HD constexpr bool fused() const { return operands().ops; }
  TW_HD constexpr bool gated() const { return operands().gate; }
  /// Does the kernel write x, before its activation, to a second result?
  TW_HD constexpr bool aux() const { return operands().aux; }
  /// Does the kernel take batches by pointers? No fused epilogue has them (TW0425).
  TW_HD constexpr bool by_pointers() const { return !fused(); }
  /// Columns of D that a CTA and a warp store: those of A B, with a gate half of them.
  TW_HD constexpr int d_cols() const { return gated() ? tile_n / 2 : tile_n; }
  TW_HD constexpr int warp_d_cols() const { return d_cols() / warps_n; }
  bool operator==(sm80_config const&) const = default;
};

}  // namespace tw
