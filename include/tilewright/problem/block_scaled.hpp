// SPDX-License-Identifier: Apache-2.0
// block_scaled.hpp  Block-scaled operands: MXFP8, MXFP4 and NVFP4 in a gemm_problem.
//
//   format  elements    scales  for each         second level
//   mxfp8   e4m3, e5m2  ue8m0   32 elements      none
//   mxfp4   e2m1        ue8m0   32 elements      none
//   nvfp4   e2m1        ue4m3   16 elements      a float32 for each operand
//
// A and B have the same format (of mxfp8 either type), and both have scales:
//
//     D's sum = float32(sa sb) * sum over k of (a(m,k) fa(m,k)) (b(k,n) fb(n,k))
//
// with the factors f and the second levels sa, sb, which are 1 but for nvfp4. Scale tensors over
// (outer, k) are bytes in one of two orders:
//   linear   rows of ceil(k / block) scales, of any pitch
//   32x4x4   what tcgen05.mma reads and torch calls SWIZZLE_32_4_4: scale_desc::tiled
// Bytes that belong to no block may be anything, with one exception: a factor of tiled scales after
// the last block of a row must not be NaN, because zeros of K are multiplied by it.
// Sources: OCP, "Microscaling Formats (MX)"; PTX ISA, "Block Scaling for tcgen05.mma".
#pragma once

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

/// Are these scales of a block-scaled format?
constexpr bool is_block_scale(scale_desc const& s) {
  return s.block_outer == 1 && (s.block_k == 16 || s.block_k == 32);
}

/// Are A and B block-scaled? Of accepted problems both are or neither is.
constexpr bool is_block_scaled(gemm_problem const& p) {
  for (role const x : a_and_b)
    if (!scale(p, x) || !is_block_scale(*scale(p, x))) return false;
  return true;
}

/// The format of accepted block-scaled operands.
constexpr block_format format_of(gemm_problem const& p) {
  if (!packs_in_pairs(p.a.type)) return block_format::mxfp8;
  return is_exponent(scale(p, role::a)->type) ? block_format::mxfp4 : block_format::nvfp4;
}

}  // namespace tw
