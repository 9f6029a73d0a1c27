// SPDX-License-Identifier: Apache-2.0
// identity.hpp  Coordinate tensors: what is at (i, j) is (i, j). For predicates and TMA.
//
//     auto c = identity_like(A);                            c(i, j) == {i, j}
//     auto tc = partition<tile(16, 64), tv>(local_tile<tile(128, 64)>(c, bx, by), thread);
//     auto p = inside(tc, m, k);                            p(x): tc(x) < (m, k)
//     copy_if(p, tA, sA);
//
// Whatever is done to a tensor is done to its coordinate tensor too, and its elements then say
// which cell of the whole each element is. A coordinate has one number for each mode; the cells of
// a nested mode are counted by their index in it.
// Law:      identity_like(t)(c...) == {c...}, also after the same slices and partitions
// Example:  tests/tensor/algorithm_test.cpp
#pragma once

#include "tilewright/tensor/fragment.hpp"
#include "tilewright/tensor/shape.hpp"

namespace tw {

namespace detail {

/// The layout of a shape whose offset along mode i is the index in mode i, as basis stride @i.
TW_HD constexpr layout coordinate_layout(tree const& shape) {
  layout l;
  l.shape = shape;
  for (int i = 0; i < rank(shape); ++i) {
    leaf_range const r = mode_range(shape, i);
    num next{1, static_cast<std::uint32_t>(i + 1)};
    for (int k = r.begin; k < r.end; ++k) {
      l.stride[k] = next;
      if (k + 1 < r.end) next = times(next, shape.leaf[k]);
    }
  }
  return l;
}

}  // namespace detail

/// The coordinates of a static shape.
template <tree Shape>
TW_HD constexpr auto make_identity_tensor() {
  using element = coordinates<rank(Shape)>;
  return tensor<element, detail::coordinate_layout(Shape), crds>{element{}};
}

/// The coordinates of t, also of run-time extents.
template <tensor_like V>
TW_HD constexpr auto identity_like(V&& v) {
  constexpr tree shape = map_of<V>.shape;
  constexpr layout counts = detail::coordinate_layout(shape);
  using element = coordinates<rank(shape)>;
  auto const args = detail::first_arguments<arguments_of(counts)>(v.view().args);
  return tensor<element, counts, crds>{element{}, 0, args};
}

/// Every number of the coordinate is less than its limit.
template <int R, class... I>
TW_HD constexpr bool elem_less(coordinates<R> const& c, I... limits) {
  static_assert(detail::need_rank(sizeof...(I), R));
  int i = 0;
  return ((c[i++] < static_cast<std::int32_t>(limits)) && ...);
}

/// A predicate over the cells of a coordinate tensor, computed on access.
template <class Coordinates, int R>
struct inside_of {
  static constexpr layout map = Coordinates::map;

  Coordinates data;
  coordinates<R> limits;

  TW_HD constexpr inside_of view() const { return *this; }
  template <class... C>
  TW_HD constexpr bool operator()(C... c) const {
    coordinates<R> const at = data(c...);
    bool less = true;
    for (int i = 0; i < R; ++i) less = less && at[i] < limits[i];
    return less;
  }
};

/// true where elem_less(c(x), limits...): for copy_if.
template <tensor_like V, class... I>
TW_HD constexpr auto inside(V&& v, I... limits) {
  using where = view_of<V>;
  constexpr int r = sizeof...(I);
  static_assert(detail::need_rank(r, int{sizeof(typename where::element) / sizeof(std::int32_t)}));
  return inside_of<where, r>{v.view(), {{static_cast<std::int32_t>(limits)...}}};
}

}  // namespace tw
