// SPDX-License-Identifier: Apache-2.0
// block_result.hpp  D of a GEMM in MXFP8, MXFP4 or NVFP4: what gemm_problem::scale_d says then.
//
//   format  D     scales  for each             second level
//   mxfp8   e4m3  ue8m0   32 columns of a row  none
//   mxfp4   e2m1  ue8m0   32 columns of a row  none
//   nvfp4   e2m1  ue4m3   16 columns of a row  a float32
//
// D and its scales have the bits that quantize() of problem/block_quantize.hpp makes of D in
// float32: D is the A operand of another GEMM. It is row-major; two elements of e2m1 lie in a byte,
// the first in its low half. Scales lie in either order, linear or 32x4x4, and those of 32x4x4 that
// belong to no block are 0. The float32 of NVFP4 is in the memory of the scales too, after those
// of all matrices of the batch: matrix i has it at byte second_level_offset() + 4 i.
#pragma once

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw {

/// Is D block-scaled?
constexpr bool is_block_result(gemm_problem const& p) {
  return p.scale_d && is_block_scale(p.scale_d->desc);
}

/// The format of an accepted block-scaled D.
constexpr block_format result_format(gemm_problem const& p) {
  if (!packs_in_pairs(p.d.type)) return block_format::mxfp8;
  return p.scale_d->desc.second_level ? block_format::nvfp4 : block_format::mxfp4;
}

/// Scales of a D of `rows` x `cols`; those of a batch follow each other.
inline output_scales make_block_result(block_format format, std::int64_t rows, std::int64_t cols,
                                       factor_order order = factor_order::swizzled,
                                       std::int64_t batch = 1) {
  return {make_block_scale({false, rows, cols, batch}, format, order)};
}

/// Bytes of the scales of all matrices, without the second level.
constexpr std::int64_t block_result_scale_bytes(gemm_problem const& p) {
  scale_desc const& s = p.scale_d->desc;
  return scale_extent(s, p.m, result_cols(p.epilogue, p.n)) + s.batch_stride * (p.batch - 1);
}
/// Where the second levels of NVFP4 begin in the memory of the scales, whose address is then a
/// multiple of 4 bytes.
constexpr std::int64_t second_level_offset(gemm_problem const& p) {
  return (block_result_scale_bytes(p) + 3) / 4 * 4;
}
/// Bytes of the memory of the scales.
constexpr std::int64_t block_result_bytes(gemm_problem const& p) {
  return p.scale_d->desc.second_level ? second_level_offset(p) + 4 * p.batch
                                      : block_result_scale_bytes(p);
}

/// The second level of matrix `batch`; 1 of other formats than NVFP4. `scales` is on the host.
float second_level(gemm_problem const& p, void const* scales, std::int64_t batch);

/// Why a block-scaled D cannot be computed: TW0458.
std::optional<rejection> check_block_result(gemm_problem const& p);

}  // namespace tw
