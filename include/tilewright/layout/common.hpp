// SPDX-License-Identifier: Apache-2.0
// common.hpp  How many elements can move together: common vectors of two layouts, alignment.
//
//     max_common_layout(A, B)   the indices C(0), C(1), ... with A(C(i)) == B(C(i)) == i
//     max_common_vector(A, B)   how many of them
//     max_alignment(L)          the longest vectors that are contiguous and at multiples of their
//                               own length everywhere in L
//     domain_distribute(S, n)   n workers over the shape S: as many as divide it, mode by mode
//
// Needs:    strides that are integers >= 0 [TW0109]
// Example:  tests/layout/common_test.cpp
#pragma once

#include "tilewright/layout/inverse.hpp"

namespace tw {

namespace detail {

TW_HD constexpr i64 gcd(i64 a, i64 b) {
  while (b != 0) {
    i64 const r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/// How many steps of `index` in a row move a's offset by `stride` each, up to `most`.
TW_HD constexpr i64 steady_steps(flat_layout const& a, i64 index, i64 stride, i64 most) {
  for (int k = 0; k < a.n; ++k) {
    if (index < a.extent[k]) {
      if (times(a.stride[k], index).v != stride) return 1;
      return smaller(most, ceil_div(a.extent[k], index));
    }
    if (index % a.extent[k] != 0) return 1;
    index /= a.extent[k];
  }
  return 1;
}

}  // namespace detail

TW_HD constexpr layout max_common_layout(layout const& a, layout const& b) {
  detail::flat_layout const f = detail::merge(plain(a), {0, a.shape.n}, false);
  layout const inverse = detail::plain_right_inverse(plain(b));
  i64 covered = 1;
  layout out;
  for (int k = 0; k < inverse.shape.n; ++k) {
    i64 const most = inverse.extent(k);
    i64 const same = detail::steady_steps(f, inverse.stride[k].v, covered, most);
    detail::append(out, same, inverse.stride[k]);
    covered = times(covered, same);
    if (same != most) break;
  }
  return coalesce(detail::close_piece(out));
}

/// A swizzle leaves runs of 2^base together.
TW_HD constexpr i64 max_common_vector(layout const& a, layout const& b) {
  i64 common = size(max_common_layout(a, b));
  if (a.sw == b.sw && a.offset == b.offset) return common;
  if (a.swizzled()) common = detail::gcd(common, i64{1} << a.sw.base);
  if (b.swizzled()) common = detail::gcd(common, i64{1} << b.sw.base);
  return common;
}

TW_HD constexpr i64 max_alignment(layout const& l) {
  detail::steps const s = detail::sorted_steps(plain(l));
  i64 run = 1;
  i64 others = 0;  // gcd of the strides that do not continue the run
  for (int k = 0; k < s.n; ++k) {
    if (s.at[k].stride == run) {
      run = times(run, s.at[k].extent);
    } else {
      others = detail::gcd(others, s.at[k].stride);
    }
  }
  run = detail::gcd(run, others);
  return l.swizzled() ? detail::gcd(run, i64{1} << l.sw.base) : run;
}

TW_HD constexpr layout domain_distribute(tree const& shape, i64 n) {
  if (n < 1) refuse_extent(n, 1);
  layout out;
  i64 index = 1;
  for (int i = 0; i < shape.n; ++i) {
    i64 const part = detail::gcd(shape.leaf[i].v, n);
    if (part > 1) detail::append(out, part, num{index});
    n /= part;
    index = times(index, shape.leaf[i].v);
  }
  return coalesce(detail::close_piece(out));
}

}  // namespace tw
