// SPDX-License-Identifier: Apache-2.0
// common.hpp  How many elements can move together: common vectors of two layouts, alignment.
//
//     max_common_layout(A, B)   the indices C(0), C(1), ... with A(C(i)) == B(C(i)) == i
//     max_common_vector(A, B)   how many of them
//     max_alignment(L)          the longest vectors that are contiguous and at multiples of their
//                               own length everywhere in L
//     domain_distribute(S, n)   n workers over the shape S: as many as divide it, mode by mode
//
// Run time: what is certain for every value of the arguments: lower bounds
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

/// The smaller of two extents; where that depends on an argument, what divides both for certain.
TW_HD constexpr num at_most(num a, num b) {
  if (a == b) return a;
  bool const known = !is_argument(a) && !is_argument(b);
  return num{known ? smaller(a.v, b.v) : gcd(a.v, b.v)};
}

/// How many steps of `index` in a row move a's offset by `stride` each, up to `most`: as many as
/// are certain.
TW_HD constexpr num steady_steps(flat_layout const& a, num index, num stride, num most) {
  for (int k = 0; k < a.n; ++k) {
    num const extent = a.extent[k];
    if (quotient const q = divided(index, extent); q.exact && q.value.v > 0) {
      index = q.value;
      continue;
    }
    if (!can_multiply(a.stride[k], index) || times(a.stride[k], index) != stride) return num{1};
    if (index == num{1}) return at_most(most, extent);
    if (is_argument(index) || is_argument(extent)) return num{1};
    return index.v < extent.v ? at_most(most, num{ceil_div(extent.v, index.v)}) : num{1};
  }
  return num{1};
}

}  // namespace detail

TW_HD constexpr layout max_common_layout(layout const& a, layout const& b) {
  detail::flat_layout const f = detail::merge(linear_part(a), {0, a.shape.n}, false);
  layout const inverse = detail::plain_right_inverse(linear_part(b));
  num covered{1};
  layout out;
  for (int k = 0; k < inverse.shape.n; ++k) {
    num const most = inverse.shape.leaf[k];
    num const same = detail::steady_steps(f, inverse.stride[k], covered, most);
    detail::append(out, same, inverse.stride[k]);
    if (same != most || !can_multiply(covered, same)) break;
    covered = times(covered, same);
  }
  return coalesce(detail::close_piece(out));
}

/// A swizzle leaves runs of 2^base together. Where the common part is a multiple that is known at
/// run time only, the known factor counts.
TW_HD constexpr i64 max_common_vector(layout const& a, layout const& b) {
  i64 common = 1;
  layout const both = max_common_layout(a, b);
  for (int i = 0; i < both.shape.n; ++i) common = times(common, both.shape.leaf[i].v);
  if (a.sw == b.sw && a.offset == b.offset) return common;
  if (a.swizzled()) common = detail::gcd(common, i64{1} << a.sw.base);
  if (b.swizzled()) common = detail::gcd(common, i64{1} << b.sw.base);
  return common;
}

/// Of extents and strides that are known at run time the known factor counts.
TW_HD constexpr i64 max_alignment(layout const& l) {
  detail::steps const s = detail::sorted_steps(linear_part(l));
  i64 run = 1;
  i64 others = 0;      // gcd of the strides that do not continue the run
  bool ended = false;  // where the run ends is known at run time only
  for (int k = 0; k < s.n; ++k) {
    if (s.at[k].stride == num{run} && !ended) {
      run = times(run, s.at[k].extent.v);
      ended = is_argument(s.at[k].extent);
    } else {
      others = detail::gcd(others, s.at[k].stride.v);
    }
  }
  run = detail::gcd(run, others);
  return l.swizzled() ? detail::gcd(run, i64{1} << l.sw.base) : run;
}

/// The runs that a swizzle does not divide: 2^base.
TW_HD constexpr i64 max_alignment(swizzle s) { return i64{1} << s.base; }

TW_HD constexpr layout domain_distribute(tree const& shape, i64 n) {
  if (n < 1) refuse_extent(n, 1);
  layout out;
  i64 index = 1;
  for (int i = 0; i < shape.n; ++i) {
    if (n == 1) break;
    i64 const part = detail::gcd(number(shape.leaf[i]), n);
    if (part > 1) detail::append(out, part, num{index});
    n /= part;
    index = times(index, shape.leaf[i].v);
  }
  return coalesce(detail::close_piece(out));
}

}  // namespace tw
