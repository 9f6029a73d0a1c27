// SPDX-License-Identifier: Apache-2.0
// modes.cpp  Operation table: lists of modes, arithmetic of shapes, slices and tiles.
#include "layout/operations.hpp"

namespace tw::detail {
namespace {

using shape_operation = tree (*)(tree, tree const&);
using comparison = bool (*)(tree const&, tree const&);

template <shape_operation Apply>
answer shapes(arguments const& a) {
  return answer_of(Apply(a.as_tree(0), a.as_tree(1)));
}
template <comparison Holds>
answer compare(arguments const& a) {
  return answer_of(i64{Holds(a.as_tree(0), a.as_tree(1))});
}

int small(arguments const& a, int i) {
  i64 const v = a.as_integer(i);
  if (v < 0 || v > max_leaves) refuse_mode(v, max_leaves);
  return static_cast<int>(v);
}

/// A tile of the identity layout of a shape; it begins at a coordinate.
answer local_tile_identity(arguments const& a) {
  return answer_of(tw::local_tile_identity(a.as_tree(0), a.as_tiler(1), a.as_tree(2)));
}

/// A slice as CuTe's slice() answers it, the layout alone; people also see where it begins.
answer slice_alone(arguments const& a) {
  layout const l = a.as_layout(0);
  tree const c = a.as_tree(1);
  answer const all = has_basis(l) ? answer_of(slice_coordinates(l, c)) : answer_of(slice(l, c));
  answer r = answer_of(*all.function);
  r.shown = all.text();
  return r;
}

answer tensor_slice(arguments const& a) {
  layout const l = a.as_layout(0);
  if (has_basis(l)) return answer_of(slice_coordinates(l, a.as_tree(1)));
  return answer_of(slice(l, a.as_tree(1)));
}

answer one_tile(arguments const& a) {
  layout const l = a.as_layout(0);
  if (a.count() == 4) return answer_of(local_tile(l, a.as_tree(1), a.as_tree(2), a.as_tree(3)));
  if (has_basis(l)) return answer_of(local_tile_coordinates(l, a.as_tiler(1), a.as_tree(2)));
  return answer_of(local_tile(l, a.as_tiler(1), a.as_tree(2)));
}

constexpr operation of_modes[] = {
    {"take", 3, 3,
     [](arguments const& a) {
       return detail::answer_of(take(a.as_layout(0), small(a, 1), small(a, 2)));
     }},
    {"group", 3, 3,
     [](arguments const& a) {
       return detail::answer_of(group(a.as_layout(0), small(a, 1), small(a, 2)));
     }},
    {"select", 2, 2,
     [](arguments const& a) { return detail::answer_of(select(a.as_layout(0), a.as_tree(1))); }},
    {"append", 2, 2,
     [](arguments const& a) {
       return detail::answer_of(append_mode(a.as_layout(0), a.as_layout(1)));
     }},
    {"append4", 1, 1,
     [](arguments const& a) { return detail::answer_of(pad_rank(a.as_layout(0), 4)); }},
    {"prepend", 2, 2,
     [](arguments const& a) {
       return detail::answer_of(prepend_mode(a.as_layout(0), a.as_layout(1)));
     }},
    {"zip", 1, 1, [](arguments const& a) { return detail::answer_of(zip(a.as_layout(0))); }},
    {"flatten", 1, 1,
     [](arguments const& a) { return detail::answer_of(flatten(a.as_layout(0))); }},
    {"slice", 2, 2, slice_alone},
    {"swizzle_slice_static", 2, 2,
     [](arguments const& a) {
       sliced const s = slice(a.as_layout(0), a.as_tree(1));
       answer r;
       r.res = "(" + to_string(s.kept) + "," + std::to_string(s.offset) + ")";
       return r;
     }},
    {"swizzle_slice_tensor", 2, 2, tensor_slice},
    {"dice", 2, 2,
     [](arguments const& a) { return detail::answer_of(dice(a.as_layout(0), a.as_tree(1))); }},
    {"local_tile", 3, 4, one_tile},
    {"local_tile_proj", 4, 4,
     [](arguments const& a) {
       return answer_of(local_tile(a.as_layout(0), a.as_tree(1), a.as_tree(2), a.as_tree(3)));
     }},
    {"local_tile_identity", 3, 3, local_tile_identity},
    {"local_partition", 3, 3,
     [](arguments const& a) {
       return answer_of(local_partition(a.as_layout(0), a.as_layout(1), a.as_integer(2)));
     }},
    {"ceil_div", 2, 2, shapes<ceil_div>},
    {"shape_div", 2, 2, shapes<shape_div>},
    {"round_up", 2, 2, shapes<round_up>},
    {"elem_less", 2, 2, compare<elem_less>},
    {"lex_less", 2, 2, compare<lex_less>},
    {"colex_less", 2, 2, compare<colex_less>},
    {"congruent", 2, 2, compare<congruent>},
    {"weakly_congruent", 2, 2, compare<weakly_congruent>},
    {"compatible", 2, 2, compare<compatible>},
    {"evenly_divides", 2, 2,
     [](arguments const& a) {
       return detail::answer_of(i64{evenly_divides(a.as_tree(0), a.as_integer(1))});
     }},
};

}  // namespace

std::span<operation const> mode_operations() { return of_modes; }

}  // namespace tw::detail
