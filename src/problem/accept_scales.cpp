// SPDX-License-Identifier: Apache-2.0
// accept_scales.cpp  Rules of scales, each with its code.
#include "problem/accept_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {

refusal check_block_scales(gemm_problem const& p) {
  auto const any = [&](auto const& holds) { return std::ranges::any_of(a_and_b, holds); };
  bool const scaled = any([&](role x) { return scale(p, x) && is_block_scale(*scale(p, x)); });
  if (!scaled && !packs_in_pairs(p.a.type) && !packs_in_pairs(p.b.type)) return std::nullopt;
  auto const text = [&](role x) {
    auto const& s = scale(p, x);
    elem const type = matrix_of(p, x)->type;
    return s ? fmt::format("{} with {} for {}x{}", name(type), name(s->type), s->block_outer,
                           s->block_k)
             : fmt::format("{} without scales", name(type));
  };
  auto const is = [&](elem scale_type, int block, auto const& of_type) {
    return std::ranges::all_of(a_and_b, [&](role x) {
      auto const& s = scale(p, x);
      return of_type(matrix_of(p, x)->type) && s && is_block_scale(*s) && s->type == scale_type &&
             s->block_k == block;
    });
  };
  bool const nvfp4 = is(elem::ue4m3, 16, packs_in_pairs);
  if (!nvfp4 && !is(elem::ue8m0, 32, packs_in_pairs) && !is(elem::ue8m0, 32, is_fp8))
    return rejection{
        "TW0475", "block-scaled operands", fmt::format("A {}, B {}", text(role::a), text(role::b)),
        "both e4m3 or e5m2 with ue8m0 for 1x32 (MXFP8), both e2m1 with ue8m0 for 1x32 (MXFP4), or "
        "both e2m1 with ue4m3 for 1x16 (NVFP4)",
        "make_block_scale() describes such scales, `tilewright quantize` computes them"};
  for (role const x : a_and_b)
    if (scale(p, x)->second_level != nvfp4)
      return rejection{"TW0476", fmt::format("second level of the scales of {}", row_of(x).text),
                       nvfp4 ? "none" : "a float32",
                       nvfp4 ? "a float32: NVFP4's values and scales alone are not the numbers"
                             : "none: only NVFP4 has one",
                       nvfp4 ? "scale_desc::second_level = true, gemm_operands::second_level_a and "
                               "second_level_b"
                             : ""};
  auto const k_rule = [](std::string got, char const* need, char const* hint) {
    return rejection{"TW0477", "block-scaled operands", std::move(got), need, hint};
  };
  if (p.k == 0) return k_rule("K = 0", "K of 1 or more", "D = beta C needs no GEMM");
  if (p.has_pointers())
    return rejection{"TW0425", "scales of a batch by pointers", "scales of A or B", "none",
                     "let the matrices lie at equal distances: a batch stride"};
  for (role const x : a_and_b) {
    scale_desc const& s = *scale(p, x);
    bool const apart = s.stride_outer >= 0 && s.stride_k >= 0 && s.batch_stride >= 0;
    if (!apart || s.packed_k != 1)
      return rejection{"TW0453", "strides of the scales",
                       fmt::format("{}, {} and {}, {} adjacent", s.stride_outer, s.stride_k,
                                   s.batch_stride, s.packed_k),
                       "0 or more, 1 adjacent", ""};
  }
  if (!packs_in_pairs(p.a.type) && !packs_in_pairs(p.b.type)) return std::nullopt;
  if (p.k % 2 != 0)
    return k_rule(fmt::format("e2m1 with K = {}", p.k), "an even K: two elements fill a byte",
                  "add a column of zeros to A and to B^T");
  if (p.a.ord != order::row_major || p.b.ord != order::col_major)
    return k_rule("e2m1 that is not contiguous along K", "A row-major and B column-major",
                  "store B as (N, K) row by row: gemm_problem::b.ord = order::col_major");
  for (matrix_desc const& m : {p.a, p.b})
    if (m.pitch_elems % 2 != 0 || (p.batch > 1 && m.batch_stride_elems % 2 != 0))
      return k_rule(fmt::format("e2m1 with a leading dimension of {} and a batch stride of {}",
                                m.pitch_elems, m.batch_stride_elems),
                    "even numbers of elements: rows begin at bytes", "");
  return std::nullopt;
}

namespace {

/// Scales of A or of B: blocks that kernels multiply by.
refusal check_scale(role x, scale_desc const& s) {
  auto const refused = [&](char const* what, char const* field, std::string got, char const* need,
                           char const* hint = "") {
    return rejection{"TW0453",
                     fmt::format("{} of {} (gemm_problem::scale_{}->{})", what, row_of(x).text,
                                 row_of(x).word, field),
                     std::move(got), need, hint};
  };
  if (!is_scale_type(s.type))
    return refused("type of the scales", "type", name(s.type), "f32 or ue8m0");
  if (s.tiled || s.second_level)
    return refused(s.tiled ? "order 32x4x4 of the scales" : "second level of the scales",
                   s.tiled ? "tiled" : "second_level", "true",
                   "false: block-scaled operands alone have it");
  bool const outer = s.block_outer == 0 || s.block_outer == 1 || s.block_outer == 128;
  bool const k = s.block_k == 0 || s.block_k == scale_block_k;
  if (!outer || !k)
    return refused("blocks of the scales", "block_outer, block_k",
                   fmt::format("{}x{}", s.block_outer, s.block_k),
                   "1 or 128 rows or columns, 128 elements along K; 0 for all",
                   "blocks of 16 and 32 are formats of Blackwell's tensor cores");
  bool const packed = s.packed_k == 4 && is_exponent(s.type) && s.block_k != 0;
  if (s.packed_k != 1 && !packed)
    return refused("blocks along K that are adjacent, of the scales", "packed_k",
                   fmt::format("{}", s.packed_k), "1, or 4 of ue8m0");
  if (s.stride_outer < 0 || s.stride_k < 0 || s.batch_stride < 0)
    return refused("strides of the scales", "stride_outer, stride_k, batch_stride",
                   fmt::format("{}, {} and {}", s.stride_outer, s.stride_k, s.batch_stride),
                   "0 or more");
  return std::nullopt;
}

}  // namespace

refusal check_scales(gemm_problem const& p) {
  if (!has_scales(p) || is_block_scaled(p)) return std::nullopt;
  for (role const x : a_and_b)
    if (auto const& s = scale(p, x))
      if (auto r = check_scale(x, *s)) return r;
  if (p.has_pointers())
    return rejection{"TW0425", "scales of a batch by pointers", "scales of A or B", "none",
                     "let the matrices lie at equal distances: a batch stride"};
  if (holds_integer_sums(p.d.type))
    return rejection{"TW0438", "D of s32", "scales of A or B", "no scales: D is the sum itself",
                     "D of f32, bf16 or f16 takes them"};
  if (!scales_in_main_loop(p) || is_fp8(p.a.type)) return std::nullopt;
  bool twice = false;
  gemm_problem same = p;  // where all matrices of a batch have the same scales
  for (role const x : a_and_b) {
    if (!scale(p, x)) continue;
    twice = twice || epilogue_scale(p.epilogue, x);
    scale(same, x)->batch_stride = 0;
  }
  return rejection{"TW0454", fmt::format("scales of {} operands", name(p.a.type)),
                   twice                       ? "scales of A and of rows, or of B and of columns"
                   : scales_in_main_loop(same) ? "block scales"
                                               : "other scales for each matrix of a batch",
                   "operands of 8-bit floats; or float32 scales, one of A or one for each row, one "
                   "of B or one for each column, for all of a batch",
                   twice ? "multiply the two vectors into one" : ""};
}

refusal check_result_scales(gemm_problem const& p) {
  if (!p.scale_d) return std::nullopt;
  if (is_block_result(p)) return check_block_result(p);
  scale_desc const& s = p.scale_d->desc;
  auto const refused = [](char const* what, char const* field, std::string got, char const* need,
                          char const* hint = "") {
    return rejection{"TW0458", fmt::format("{} of D (gemm_problem::scale_d->{})", what, field),
                     std::move(got), need, hint};
  };
  if (!is_scale_type(s.type) || (is_exponent(s.type) && p.scale_d->given))
    return refused("type of the scales", "desc.type", name(s.type),
                   p.scale_d->given ? "f32" : "f32 or ue8m0");
  if (is_exponent(s.type) && !p.scale_d->power_of_two)
    return refused("scales of type ue8m0", "desc.type", "any value", "powers of two",
                   "gemm_problem::scale_d->power_of_two = true");
  if (p.scale_d->given && p.scale_d->power_of_two)
    return refused("given scale", "given", "gemm_problem::scale_d->power_of_two = true", "false",
                   "a scale that is given is taken as it is");
  if (s.tiled || s.second_level)
    return refused(s.tiled ? "order 32x4x4 of the scales" : "second level of the scales",
                   s.tiled ? "desc.tiled" : "desc.second_level", "true",
                   "false: a block-scaled D alone has it");
  std::string const blocks = fmt::format("{}x{}", s.block_outer, s.block_k);
  if (p.scale_d->given && (s.block_outer != 0 || s.block_k != 0 || s.batch_stride != 0))
    return refused("blocks of the given scale", "desc", blocks, "one scale for all of D: 0x0",
                   "scales of rows are a col_scale or row_scale of the epilogue");
  bool const row = s.block_outer == 1 && (s.block_k == 0 || s.block_k == scale_block_cols);
  if (!p.scale_d->given && !row)
    return refused("blocks of the scales", "desc.block_outer, block_k", blocks,
                   "1x0, a row of D, or 1x128, 128 columns of a row",
                   "others: D in float32 or bf16, then `tilewright quantize` or tw::quantize()");
  if (s.packed_k != 1 && (s.packed_k != 4 || !is_exponent(s.type) || s.block_k == 0))
    return refused("blocks along N that are adjacent, of the scales", "desc.packed_k",
                   fmt::format("{}", s.packed_k), "1, or 4 of ue8m0");
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  bool const many_rows = !p.scale_d->given && p.m > 1;
  bool const many_blocks = scale_blocks(s.block_k, cols) > s.packed_k;
  if (s.stride_outer < (many_rows ? 1 : 0) || s.stride_k < (many_blocks ? 1 : 0) ||
      s.batch_stride < (p.batch > 1 && !p.scale_d->given ? 1 : 0))
    return refused("strides of the scales", "desc.stride_outer, stride_k, batch_stride",
                   fmt::format("{}, {} and {}", s.stride_outer, s.stride_k, s.batch_stride),
                   "a separate place for each scale");
  return check_beside_result_scales(p, "scales of D");
}

refusal check_beside_result_scales(gemm_problem const& p, char const* result) {
  if (p.aux)
    return rejection{"TW0458", result, "an auxiliary output", "none",
                     "compute it by a second GEMM, or D without scales"};
  if (p.has_pointers())
    return rejection{"TW0425", "scales of a batch by pointers", "scales of D", "none",
                     "let the matrices lie at equal distances: a batch stride"};
  return std::nullopt;
}

}  // namespace tw
