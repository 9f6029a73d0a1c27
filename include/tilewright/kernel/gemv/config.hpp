// SPDX-License-Identifier: Apache-2.0
// config.hpp  The one parameter of a GEMV kernel: a struct of scalars.
#pragma once

#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Configuration of kernel/gemv/gemv.hpp. A warp multiplies `rows` rows of A by up to `cols`
/// columns of B; warps_k warps of a CTA split K, warps_m have different rows.
struct gemv_config {
  elem ab = elem::bf16;  // operand type: of 16 bits, or an 8-bit float by mma.sync
  elem d = elem::bf16;   // output type
  int rows = 4, cols = 1;
  int unroll = 2;  // steps along K whose loads are issued before the first is used
  int warps_m = 1, warps_k = 8;
  int ctas_per_sm = 2;

  /// Elements of a 16-byte load: K comes in pieces of so many.
  TW_HD constexpr int piece() const { return 16 / size_bytes(ab); }

  /// On the tensor cores, with mma.sync; else by fma.
  TW_HD constexpr bool by_mma() const { return cols > 2; }
  TW_HD constexpr int threads() const { return 32 * warps_m * warps_k; }
  /// Rows of a CTA.
  TW_HD constexpr int cta_rows() const { return warps_m * rows; }
  /// Pieces of K that a warp reads of a row in a step, and all warps of the CTA in a turn of its
  /// loop.
  TW_HD constexpr int step_pieces() const { return by_mma() ? 4 : 32; }
  TW_HD constexpr int iteration_pieces() const { return step_pieces() * unroll * warps_k; }
  bool operator==(gemv_config const&) const = default;
};

}  // namespace tw
