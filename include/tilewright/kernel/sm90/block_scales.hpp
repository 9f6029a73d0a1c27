// SPDX-License-Identifier: Apache-2.0
// block_scales.hpp  Scales of A and B in the main loop: the sum of each K block is multiplied by
//                   scale_a(m) scale_b(n) when it is added (problem/scale_place.hpp).
#pragma once

#include <math.h>

#include "tilewright/arch/accumulator_map.hpp"
#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/params.hpp"

namespace tw {

/// The scale of row or column `outer` of an operand in a K block; 1 without scales.
TW_DEVICE float scale_at(operand_scales const& s, int outer, int k_block, int batch) {
  if (s.data == nullptr) return 1.0F;
  int const k = s.one_k_block != 0 ? 0 : k_block;
  int const group = k >> s.packed_log2, in_group = k - (group << s.packed_log2);
  std::int64_t const at = batch * s.batch_stride +
                          std::int64_t{outer >> s.outer_log2} * s.stride_outer +
                          group * s.stride_k + in_group;
  if (s.ue8m0 != 0) return to_float(ue8m0{static_cast<words::b8 const*>(s.data)[at]});
  return static_cast<words::f32 const*>(s.data)[at];
}

/// The scales that a thread needs for its elements of a tile, one K block after another. They are
/// read through L1, where the rows and columns of a tile find them again.
template <gemm_config C, int Cols>
class block_scales {
 public:
  static constexpr int fragments = C.fragments();

  /// Rows from `row`, columns of B from column `col` of the tile's D, K blocks from `k_block`.
  TW_DEVICE block_scales(gemm_params const& p, int row, int col, int batch, int k_block)
      : p_(p),
        row_(row + accumulator_map::row_of(warp_id() % 4, lane_id())),
        col_(col),
        batch_(batch),
        k_block_(k_block) {}

  /// Reads the scales of the next K block.
  TW_DEVICE void load() {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int r = 0; r < accumulator_map::rows; ++r) {
        int const row = row_ + wgmma_m * f + accumulator_map::row_distance * r;
        a_[f][r] = scale_at(p_.a_scales, row < p_.m ? row : p_.m - 1, k_block_, batch_);
      }
    });
    bool const one_of_eight = p_.b_scales.outer_log2 >= 3;  // 8 columns share a scale
    TW_UNROLL
    for (int g = 0; g < Cols / 8; ++g) {
      b_[2 * g] = scale_at(p_.b_scales, column(8 * g), k_block_, batch_);
      b_[2 * g + 1] =
          one_of_eight ? b_[2 * g] : scale_at(p_.b_scales, column(8 * g + 1), k_block_, batch_);
    }
    ++k_block_;
  }

  /// to += from, times the scales.
  template <class Fragments>
  TW_DEVICE void add(Fragments& to, Fragments& from) const {
    unrolled<fragments>([&](auto f) {
      TW_UNROLL
      for (int i = 0; i < to[f].size; ++i) {
        float const scale = a_[f][accumulator_map::row_index(i)] * b_[2 * (i / 4) + i % 2];
        to[f][i] = fmaf(scale, from[f][i], to[f][i]);
      }
    });
  }

 private:
  /// The column of B that is column c of the thread's tile, or the last. With a gate groups of 8
  /// gates and of 8 columns that they multiply take turns.
  TW_DEVICE int column(int c) const {
    c += accumulator_map::col_of(lane_id());
    int col = col_ + c;
    if constexpr (C.gated()) {
      fused_params const& f = p_.epilogue.fused;
      int const d = col_ + c / 16 * 8 + c % 8, last = p_.epilogue.n - 1;
      return (d < last ? d : last) * f.gate_step + (c >> 3 & 1) * f.up_offset;
    }
    return col < p_.n ? col : p_.n - 1;
  }

  gemm_params const& p_;
  int row_, col_, batch_, k_block_;
  float a_[fragments][accumulator_map::rows], b_[Cols / 4];
};

}  // namespace tw
