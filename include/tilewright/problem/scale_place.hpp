// SPDX-License-Identifier: Apache-2.0
// scale_place.hpp  Where the scales of a GEMM are multiplied: in the epilogue, or in the main loop.
//
//   epilogue   One float32 scale, or one for each row of A and each column of B: they multiply the
//              finished sums, as the epilogue's row and column scales do, for every operand type.
//   main loop  All others, of 8-bit floats: the sum of each 128 elements of K is multiplied by
//              scale_a(m) scale_b(n) when it is added to the float32 sum. Their factor is rounded
//              to float32 first, so
//
//                 D's sum = sum over K blocks of float32(sa sb) (sum over the block of a b)
//
//              Such sums are always promoted: every 128 elements of K, or every 64 where the
//              problem says so.
//
// Blocks that cover all of an operand count as one scale for everything, except in a reproducible
// GEMM: there M and N have no say, since the two places round differently.
//
// Scales of block-scaled operands are in the main loop too, and exact there: the tensor core
// multiplies them (block_scaled.hpp).
//
// A problem whose epilogue has a row (column) scale as well has the scales of A (B) in its main
// loop.
#pragma once

#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// K blocks of scales in the main loop, but of block-scaled operands.
inline constexpr int scale_block_k = 128;

/// Elements of K that share the scales of the main loop.
constexpr std::int64_t main_loop_block_k(gemm_problem const& p) {
  return is_block_scaled(p) ? scale(p, role::a)->block_k : scale_block_k;
}

/// Is it a float32 scale for everything, or a vector of them, the same for the whole batch?
/// of_each: a vector for each group instead.
constexpr bool fits_epilogue(scale_desc const& given, std::int64_t outer, std::int64_t k,
                             bool of_each = false) {
  scale_desc const s = canonical(given, outer, k);
  if (s.type != elem::f32 || s.block_k != 0) return false;
  if (s.block_outer == 0) return s.batch_stride == 0;
  return s.block_outer == 1 && s.stride_outer == 1 && s.batch_stride == (of_each ? outer : 0);
}

/// The extent that decides whether a block covers all rows of A or columns of B.
constexpr std::int64_t scale_extent_of(gemm_problem const& p, std::int64_t outer) {
  return p.reproducible ? std::int64_t{1} << 40 : outer;
}

/// Are the scales of A and B multiplied in the main loop?
constexpr bool scales_in_main_loop(gemm_problem const& p) {
  if (p.k == 0) return false;  // A B takes no part
  if (is_block_scaled(p)) return true;
  auto const fits = [&](scale_desc const& s, std::int64_t outer, bool of_each) {
    if (of_each && s.block_outer == 1 && s.batch_stride != outer) return false;
    return fits_epilogue(s, scale_extent_of(p, outer), scaled_k(p), false) ||
           (of_each && fits_epilogue(s, outer, scaled_k(p), true));
  };
  for (role const x : a_and_b) {
    std::optional<scale_desc> const& s = scale(p, x);
    if (s && (epilogue_scale(p.epilogue, x) || !fits(*s, stored_extent(p, x), of_each_group(p, x))))
      return true;
  }
  return false;
}

/// Elements of K after which sums of 8-bit floats are added to float32 sums; 0: never.
constexpr int promotion_interval(gemm_problem const& p) {
  int const asked = p.precision.promote_k;
  return asked == 0 && scales_in_main_loop(p) ? scale_block_k : asked;
}

/// The problem with its scales in the epilogue, if they fit there.
constexpr gemm_problem with_epilogue_scales(gemm_problem p) {
  if (scales_in_main_loop(p)) return p;
  for (role const x : a_and_b) {
    std::optional<scale_desc>& s = scale(p, x);
    if (s && p.k != 0)
      epilogue_scale(p.epilogue, x) = {
          x == role::a ? along::rows : along::cols, elem::f32,
          canonical(*s, stored_extent(p, x), scaled_k(p)).block_outer == 0};
    s.reset();
  }
  return p;
}

}  // namespace tw
