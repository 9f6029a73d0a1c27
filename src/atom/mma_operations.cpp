// SPDX-License-Identifier: Apache-2.0
// mma_operations.cpp  Operation table of expressions: MMA atoms and tiled MMAs by name and text.
#include <string>

#include "atom/operations.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/scale_factors.hpp"
#include "tilewright/atom/weight_block.hpp"
#include "tilewright/base/check.hpp"

namespace tw::detail {
namespace {

bool is_copy(std::string_view text) try {
  if (text.starts_with("copy") || text.starts_with("tiled_copy") ||
      text.starts_with("cotiled_copy"))
    return true;
  canonical_copy_name(text);  // SM90_U32x4_STSM_N
  return true;
} catch (rejected const&) {
  return false;
}

bool is_tiled(std::string_view text) { return text.starts_with("tiled_mma("); }

/// thread-value layout of an atom, of a tiled MMA or of a copy
answer tv(arguments const& a) {
  bool const side = a.text(1) == "src" || a.text(1) == "dst" || a.text(1) == "ref";
  if (is_copy(a.text(0)) || (side && !is_tiled(a.text(0))))
    return answer_of(copy_tv(a.text(0), a.text(1)));
  mma_operand const which = mma_operand_of(a.text(1));
  if (is_tiled(a.text(0))) return answer_of(tv_layout(parse_tiled_mma(a.text(0)), which));
  return answer_of(tv_layout(a.text(0), which));
}

/// The whole names that a text selects, one to a line.
answer names(arguments const& a) {
  answer all;
  for (mma_atom const& atom : match_mma(a.text(0))) {
    all.res += (all.res.empty() ? "" : "\n") + to_string(atom);
  }
  return all;
}

answer tiled(arguments const& a) {
  std::string text = "tiled_mma(";
  for (int i = 0; i < a.count(); ++i) text += (i == 0 ? "" : ",") + std::string(a.text(i));
  return {.res = to_string(parse_tiled_mma(text + ")")), .function = {}, .origin = {}};
}

answer part(arguments const& a) {
  tiled_mma const mma = parse_tiled_mma(a.text(0));
  mma_operand const which = mma_operand_of(a.text(1));
  i64 const thread = a.as_integer(2);
  layout const tensor = a.as_layout(3);
  tree const mnk = tile_mnk(mma);
  auto const [row, column] = modes_of(which);
  tree const tile = make_shape(mnk.leaf[row].v, mnk.leaf[column].v);
  answer const cells = has_basis(tensor)
                           ? answer_of(partition_coordinates(mma, which, thread, tensor))
                           : answer_of(partition(mma, which, thread, tensor));
  return with_cells_outside(cells, tensor, tile);
}

constexpr operation table[] = {
    {"mma_atom", 1, 1, names},
    {"tiled_mma", 2, 3, tiled},
    {"tv", 2, 2, tv},
    {"thr_id", 1, 1, [](arguments const& a) { return answer_of(thr_id(one_mma(a.text(0)))); }},
    {"shape_mnk", 1, 1,
     [](arguments const& a) { return answer_of(shape_mnk(one_mma(a.text(0)))); }},
    {"thr_layout_vmnk", 1, 1,
     [](arguments const& a) { return answer_of(thr_layout_vmnk(parse_tiled_mma(a.text(0)))); }},
    {"tile_mnk", 1, 1,
     [](arguments const& a) { return answer_of(tile_mnk(parse_tiled_mma(a.text(0)))); }},
    {"partition", 4, 4, part},
    {"partition_shape", 3, 3,
     [](arguments const& a) {
       return answer_of(
           partition_shape(parse_tiled_mma(a.text(0)), mma_operand_of(a.text(1)), a.as_tree(2)));
     }},
    {"scale_factors_32_4_4", 3, 3,
     [](arguments const& a) {
       return answer_of(scale_factors_32_4_4(a.as_integer(0), a.as_integer(1), a.as_integer(2)));
     }},
    {"scale_factors_linear", 3, 3,
     [](arguments const& a) {
       return answer_of(scale_factors_linear(a.as_integer(0), a.as_integer(1), a.as_integer(2)));
     }},
    {"weight_nibbles", 3, 3,
     [](arguments const& a) {
       return answer_of(weight_nibbles(a.as_integer(0), a.as_integer(1), a.as_integer(2)));
     }},
    {"weight_scales", 1, 1,
     [](arguments const& a) { return answer_of(weight_scales(a.as_integer(0))); }},
};

}  // namespace

std::span<operation const> mma_operations() { return table; }

}  // namespace tw::detail
