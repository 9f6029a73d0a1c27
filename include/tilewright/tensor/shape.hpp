// SPDX-License-Identifier: Apache-2.0
// shape.hpp  The shape of a tensor: checked at the line that makes it, and read.
//
//     expect_shape<BM, BK, STAGES>(s);      // (m, k, stage)
//     expect_shape<BM, BK, _>(tiles);       // (m, k, tile columns): any number of those
//
// Costs nothing: the check is the compiler's.
// Needs:    that many modes [TW0143] of those sizes [TW0144; a run-time size counts as -1]
// Example:  tests/tensor/tensor_test.cpp "shapes"
#pragma once

#include "tilewright/tensor/view.hpp"

namespace tw {

namespace detail {

/// Size of mode i; -1 if it is known at run time only.
TW_HD constexpr i64 mode_size(layout const& l, int i) {
  layout const m = mode(l, i);
  return is_static(m.shape) ? size(m) : -1;
}

/// A requested size; -2 for _.
TW_HD constexpr i64 asked(i64 size) { return size; }
TW_HD constexpr i64 asked(keep) { return -2; }

/// The first mode whose size is not the requested one: both sizes. Equal if all agree.
struct two_sizes {
  i64 got = 0, need = 0;
};
TW_HD constexpr two_sizes first_wrong(layout const& l, i64 const* sizes, int n) {
  for (int i = 0; i < n && i < rank(l); ++i) {
    if (sizes[i] != -2 && mode_size(l, i) != sizes[i]) return {mode_size(l, i), sizes[i]};
  }
  return {};
}
TW_HD constexpr two_sizes first_wrong(layout const& a, layout const& b) {
  i64 sizes[max_leaves] = {};
  for (int i = 0; i < rank(b); ++i) sizes[i] = mode_size(b, i);
  return first_wrong(a, sizes, rank(b));
}
template <layout L, auto... Sizes>
consteval two_sizes wrong_size() {
  i64 const sizes[] = {asked(Sizes)...};
  return first_wrong(L, sizes, sizeof...(Sizes));
}

/// Run-time extents of l.
TW_HD constexpr int run_time_extents(layout const& l) {
  int count = 0;
  for (int i = 0; i < l.shape.n; ++i) count += is_argument(l.shape.leaf[i]) ? 1 : 0;
  return count;
}

}  // namespace detail

/// One size or _ for each mode.
template <auto... Sizes, tensor_like V>
TW_HD constexpr void expect_shape(V&&) {
  static_assert(detail::need_rank(rank(map_of<V>), sizeof...(Sizes)));
  constexpr detail::two_sizes wrong = detail::wrong_size<map_of<V>, Sizes...>();
  static_assert(detail::need_shape(wrong.got, wrong.need));
}

/// Number of elements of a tensor with a static shape [TW0145].
template <tensor_like V>
TW_HD constexpr int size(V&&) {
  static_assert(detail::need_static_shape(detail::run_time_extents(map_of<V>), 0));
  return static_cast<int>(tw::size(map_of<V>));
}

/// Size of mode I, also one that is known at run time.
template <int I, tensor_like V>
TW_HD constexpr i64 size(V&& v) {
  if constexpr (detail::mode_size(map_of<V>, I) >= 0) {
    return detail::mode_size(map_of<V>, I);
  } else {
    auto const t = v.view();
    return tw::size(mode(bound(t.map.shape, t.args.v), I));
  }
}

/// Number of modes.
template <tensor_like V>
TW_HD constexpr int rank(V&&) {
  return tw::rank(map_of<V>);
}

}  // namespace tw
