// SPDX-License-Identifier: Apache-2.0
// block_result.cpp  The rules of a block-scaled D.
#include "tilewright/problem/block_result.hpp"

#include <fmt/format.h>

#include <cstring>

#include "problem/accept_scales.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

float second_level(gemm_problem const& p, void const* scales, std::int64_t batch) {
  if (!p.scale_d->desc.second_level) return 1.0F;
  float level = 0;
  std::memcpy(&level, static_cast<std::byte const*>(scales) + second_level_offset(p) + 4 * batch,
              sizeof level);
  return level;
}

std::optional<rejection> check_block_result(gemm_problem const& p) {
  scale_desc const& s = p.scale_d->desc;
  auto const refused = [](char const* what, std::string got, std::string need, char const* hint) {
    return rejection{"TW0458", what, std::move(got), std::move(need), hint};
  };
  block_format_traits const f = traits_of(result_format(p));
  if (s.type != f.factor || s.block_k != f.block || p.d.type != f.value)
    return refused(
        "block-scaled D",
        fmt::format("{} with {} for {}x{}{}", name(p.d.type), name(s.type), s.block_outer,
                    s.block_k, s.second_level ? ", a second level" : ""),
        "e4m3 with ue8m0 for 1x32 (MXFP8), e2m1 with ue8m0 for 1x32 (MXFP4), or e2m1 with ue4m3 "
        "for 1x16 and a second level (NVFP4)",
        "make_block_result() describes such scales");
  if (p.scale_d->given)
    return refused("scales of a block-scaled D", "given ones", "scales that are computed", "");
  if (s.second_level && p.scale_d->power_of_two)
    return refused("scales of a block-scaled D", "gemm_problem::scale_d->power_of_two = true",
                   "false: those of NVFP4 are ue4m3", "");
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  bool const halves = packs_in_pairs(f.value);
  if (p.d.ord != order::row_major)
    return refused("order of a block-scaled D", "column-major",
                   "row-major: a block is columns of a row",
                   "compute the transposed D: swap A and B, each transposed");
  if (halves && (cols % 2 != 0 || p.d.pitch_elems % 2 != 0 || p.d.batch_stride_elems % 2 != 0))
    return refused("D of e2m1",
                   fmt::format("{} columns, a leading dimension of {} and a batch stride of {}",
                               cols, p.d.pitch_elems, p.d.batch_stride_elems),
                   "even numbers: two elements fill a byte", "");
  std::int64_t const blocks = scale_blocks(s.block_k, cols);
  bool const tiled = s.tiled;
  std::int64_t const groups = tiled ? blocks_in(blocks, scale_tile_blocks) : blocks;
  std::int64_t const lines = tiled ? blocks_in(p.m, scale_tile_rows) : p.m;
  std::int64_t const group = tiled ? scale_tile_bytes : 1;
  bool const apart = (groups == 1 || s.stride_k >= group) &&
                     (lines == 1 || s.stride_outer >= (groups - 1) * s.stride_k + group) &&
                     (p.batch == 1 || s.batch_stride >= scale_extent(s, p.m, cols));
  if (!apart || s.packed_k != 1)
    return refused("strides of the scales of a block-scaled D",
                   fmt::format("{}, {} and {}, {} adjacent", s.stride_outer, s.stride_k,
                               s.batch_stride, s.packed_k),
                   "lines and matrices one after another, 1 adjacent",
                   "make_block_result() describes such scales");
  return check_beside_result_scales(p, "a block-scaled D");
}

}  // namespace tw
