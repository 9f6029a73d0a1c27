// SPDX-License-Identifier: Apache-2.0
// common.hpp  Two tensors of one shape, walked together: the widest vector that both allow.
//
// The extents of both layouts are cut until they have the same leaves, mode by mode; then each leaf
// has one stride in each tensor. Leaves that continue each other in both, starting at stride 1,
// form the run; it is put in front, and the other leaves follow in their order:
//
//     (8,4):(1,8) and (8,4):(4,1)       no common run
//     (8,4):(4,1) and (8,4):(36,1)      run 4: ((4),(8)):((1),(4)) and ((4),(8)):((1),(36))
//
// Law:      a'(x) and b'(x) are the offsets of the same cell of a and b; vec_elems divides the run
// Example:  tests/tensor/copy_test.cpp "widest"
#pragma once

#include "tilewright/tensor/shape.hpp"
#include "tilewright/tensor/vec.hpp"

namespace tw::detail {

/// Leaves with a stride in each of two layouts.
struct common_leaves {
  bool ok = false;  // the two layouts could be cut alike
  int n = 0;
  i64 extent[max_leaves] = {};
  num a[max_leaves] = {};
  num b[max_leaves] = {};
};

/// Cuts the modes of a and b, static shapes of equal sizes, into common leaves.
TW_HD constexpr common_leaves cut_alike(layout const& a, layout const& b) {
  common_leaves c;
  int i = 0;
  int j = 0;
  i64 done_a = 1;  // of leaf i of a, taken already
  i64 done_b = 1;
  while (i < a.shape.n && j < b.shape.n) {
    i64 const left_a = a.extent(i) / done_a;
    i64 const left_b = b.extent(j) / done_b;
    i64 const take = smaller(left_a, left_b);
    if (left_a % take != 0 || left_b % take != 0) return c;
    if (take > 1) {
      if (c.n == max_leaves) return c;
      c.extent[c.n] = take;
      c.a[c.n] = times(a.stride[i], done_a);
      c.b[c.n++] = times(b.stride[j], done_b);
    }
    done_a *= take;
    done_b *= take;
    if (done_a == a.extent(i)) {
      ++i;
      done_a = 1;
    }
    if (done_b == b.extent(j)) {
      ++j;
      done_b = 1;
    }
  }
  for (; i < a.shape.n; ++i) done_a *= a.extent(i);
  for (; j < b.shape.n; ++j) done_b *= b.extent(j);
  c.ok = done_a == 1 && done_b == 1;
  return c;
}

/// Both layouts as (run, rest), and how many elements of the run make a vector.
struct common_walk {
  layout a, b;
  int vec_elems = 1;
};

TW_HD constexpr void append_common(common_walk& w, i64 extent, num a, num b) {
  append(w.a, num{extent}, a);
  append(w.b, num{extent}, b);
}

/// The largest power of two that divides every stride of a leaf outside the run, up to `most`.
TW_HD constexpr i64 fitting_run(common_leaves const& c, bool const* in_run, i64 most) {
  for (int k = 0; k < c.n; ++k) {
    if (in_run[k]) continue;
    if (c.a[k].v != 0) most = smaller(most, lowest_bit(c.a[k].v));
    if (c.b[k].v != 0) most = smaller(most, lowest_bit(c.b[k].v));
  }
  return most;
}

/// A run that a layout's swizzle and offset keep together.
TW_HD constexpr i64 unbroken_run(layout const& l, i64 most) {
  if (l.swizzled()) most = smaller(most, i64{1} << l.sw.base);
  return l.offset == 0 ? most : smaller(most, lowest_bit(l.offset));
}

/// `most`: elements of the widest vector that type, space and alignment of both tensors allow.
TW_HD constexpr common_walk walk_together(layout const& a, layout const& b, i64 most) {
  common_leaves const c = cut_alike(a, b);
  common_walk w;
  if (!c.ok) return {a, b, 1};
  bool in_run[max_leaves] = {};
  i64 covered = 1;
  i64 run = 1;
  for (bool found = true; found && run == covered;) {
    found = false;
    for (int k = 0; k < c.n && !found; ++k) {
      if (in_run[k] || c.a[k] != num{covered} || c.b[k] != num{covered}) continue;
      in_run[k] = found = true;
      run *= lowest_bit(c.extent[k]);
      covered *= c.extent[k];
    }
  }
  most = unbroken_run(b, unbroken_run(a, smaller(most, run)));
  w.vec_elems = static_cast<int>(fitting_run(c, in_run, most));
  for (i64 want = 1, found = 0; found >= 0; want = found) {  // the run, by ascending stride
    found = -1;
    for (int k = 0; k < c.n; ++k) {
      if (in_run[k] && c.a[k] == num{want}) {
        append_common(w, c.extent[k], c.a[k], c.b[k]);
        found = want * c.extent[k];
      }
    }
  }
  for (int k = 0; k < c.n; ++k) {
    if (!in_run[k]) append_common(w, c.extent[k], c.a[k], c.b[k]);
  }
  w.a = swizzled_as(close_piece(w.a), a);
  w.b = swizzled_as(close_piece(w.b), b);
  return w;
}

/// Static shapes with as many modes of the same sizes.
TW_HD constexpr agreement agree(layout const& a, layout const& b) {
  int const unknown = run_time_extents(a) + run_time_extents(b);
  if (unknown != 0) return {145, unknown, 0};
  if (rank(a) != rank(b)) return {143, rank(a), rank(b)};
  two_sizes const wrong = first_wrong(a, b);
  return wrong.got == wrong.need ? agreement{} : agreement{144, wrong.got, wrong.need};
}

/// Elements of the widest vector that a tensor's element type, space and alignment allow.
template <class V>
TW_HD constexpr i64 widest_vector() {
  constexpr i64 bytes = sizeof(typename V::element);
  if constexpr (!V::in_memory || (bytes & (bytes - 1)) != 0) {
    return 1;
  } else {
    return larger(smaller(V::align_bytes, max_access_bytes) / bytes, 1);
  }
}

/// How two tensors of one shape are walked together.
template <class A, class B>
TW_HD constexpr common_walk walk_of() {
  constexpr i64 most = smaller(widest_vector<A>(), widest_vector<B>());
  common_walk const w = walk_together(A::map, B::map, most);
  bool const a_fits = !A::own_bits || !A::where.moved || overlapping_leaves(w.a) == 0;
  bool const b_fits = !B::own_bits || !B::where.moved || overlapping_leaves(w.b) == 0;
  return a_fits && b_fits ? w : common_walk{A::map, B::map, 1};
}

}  // namespace tw::detail
