// SPDX-License-Identifier: Apache-2.0
// block_scaled_params.hpp  Parameters of a block-scaled Blackwell GEMM launch. The same bytes for
//                          both backends.
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/kernel/epilogue/params.hpp"
#include "tilewright/pipeline/order.hpp"

namespace tw {

/// The second level of the scales of NVFP4: a float32 for each tensor. It has no default: with
/// MXFP8, MXFP6 and MXFP4 it is second_level_scale::none().
class second_level_scale {
 public:
  TW_HD constexpr second_level_scale(float a, float b) : value_(a * b) {}
  /// Those that lie there, on the device, when the kernel runs.
  TW_HD constexpr second_level_scale(float const* a, float const* b) : value_(1), a_(a), b_(b) {}
  TW_HD static constexpr second_level_scale none() { return {1.0F, 1.0F}; }
  TW_HD constexpr float value() const { return a_ == nullptr ? value_ : *a_ * *b_; }

 private:
  float value_;
  float const *a_ = nullptr, *b_ = nullptr;
};

struct block_scaled_params {
  second_level_scale second;
  tile_walk walk;  // through the tiles of D, of tile_m() rows
  int k_blocks;    // of tile_k elements
  /// (k, mn, batch), boxes of tile_k x 128 and tile_k x b_share, swizzle 128. B of a gate is (k,
  /// column of D, 0 gates or 1 what they multiply, batch).
  tensor_map a, b;
  tensor_map sfa, sfb;  // batched(factor_map)
  int up_atom;  // with a gate: rows of atoms of B's factors from gates to what they multiply
  /// 1: a matrix for each batch index, along the map; 0: one for all.
  int a_batched, b_batched, sfa_batched, sfb_batched;
  epilogue_params epilogue;  // D is row-major; its map has boxes of sm100_epilogue
};

}  // namespace tw
