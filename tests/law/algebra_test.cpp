// SPDX-License-Identifier: Apache-2.0
// algebra_test.cpp  Random inputs for the laws of coalesce, composition, complement, inverses.
#include "tests/law/trial.hpp"

namespace tw_test {
namespace {

using namespace tw;

/// Half of the time any layout, else one whose leaves are digits of an index of a.
layout second(trial& t, layout const& a) {
  return t.one_in(4) ? t.any(12) : t.reader(coalesce(linear_part(a)).shape);
}

layout first(trial& t) { return t.one_in(5) ? t.swizzled_layout(64) : t.with_sign(32); }

layout identity(trial& t) {
  tree s = t.shape(48);
  return make_identity_layout(s.is_leaf() ? make_tree(s) : s);
}

/// Something to compare with another: equal leaves more often than not.
layout relative(trial& t, layout const& a) {
  if (t.one_in(4)) return t.nested(48);
  layout b = a;
  for (int k = 0; k < b.shape.n; ++k) {
    if (t.one_in(4)) b.stride[k].v *= 2;
  }
  return b;
}

void inverse(trial& t, layout const& l, layout const& r,
             bool (*law)(layout const&, layout const&)) {
  t.check(
      r, [&](layout const& x) { return law(l, x); }, l);
}

void common_vector(trial& t, layout const& a, layout const& b) {
  t.check(
      max_common_vector(a, b), [&](i64 v) { return max_common_vector_law(a, b, v); }, a, b);
}

}  // namespace

std::vector<law_case> algebra_cases() {
  return {
      {"coalesce",
       [](trial& t) {
         layout const l = first(t);
         t.check(
             coalesce(l), [&](layout const& r) { return coalesce_law(l, r); }, l);
       }},
      {"coalesce_profile",
       [](trial& t) {
         layout const l = first(t);
         tree const p = t.coarser(l.shape);
         t.check(
             coalesce(l, p), [&](layout const& r) { return coalesce_profile_law(l, p, r); }, l, p);
       }},
      {"filter_zeros",
       [](trial& t) {
         layout const l = first(t);
         t.check(
             filter_zeros(l), [&](layout const& r) { return filter_zeros_law(l, r); }, l);
       }},
      {"filter",
       [](trial& t) {
         layout const l = first(t);
         t.check(
             filter(l), [&](layout const& r) { return filter_law(l, r); }, l);
       }},
      {"filter_profile",
       [](trial& t) {
         layout const l = first(t);
         tree const p = t.coarser(l.shape);
         t.check(
             filter(l, p), [&](layout const& r) { return filter_profile_law(l, p, r); }, l, p);
       }},
      {"composition",
       [](trial& t) {
         layout const a = first(t);
         layout const b = second(t, a);
         t.check(
             composition(a, b), [&](layout const& r) { return composition_law(a, b, r); }, a, b);
       }},
      {"identity_composition",
       [](trial& t) {
         layout const a = identity(t);
         layout const b = second(t, a);
         t.check(
             composition(a, b), [&](layout const& r) { return composition_law(a, b, r); }, a, b);
       }},
      {"composition_tiler",
       [](trial& t) {
         layout const a = first(t);
         tiler const b = a.shape.is_leaf() ? tiler(t.reader(a.shape)) : t.tuple_tiler(a);
         t.check(
             composition(a, b), [&](layout const& r) { return composition_tiler_law(a, b, r); }, a,
             b);
       }},
      {"composition_int",
       [](trial& t) {
         layout const a = first(t);
         layout const b = t.reader(coalesce(linear_part(a)).shape, false);
         i64 const n = t.one_in(2) ? size(b) : t.pick({1, 2, 4, size(a)});
         t.check(
             composition(a, n), [&](layout const& r) { return composition_int_law(a, n, r); }, a,
             n);
       }},
      {"with_shape",
       [](trial& t) {
         layout const a = first(t);
         tree s = t.one_in(4) ? t.shape() : tree(size(a));
         if (size(a) % 2 == 0 && t.one_in(2)) s = make_tree(2, size(a) / 2);
         if (size(a) % 4 == 0 && t.one_in(2)) s = make_tree(2, make_tree(size(a) / 4, 2));
         t.check(
             composition(a, make_layout(s)),
             [&](layout const& r) { return with_shape_law(a, s, r); }, a, s);
       }},
      {"complement",
       [](trial& t) {
         layout const l = t.one_in(8) ? t.any(12) : t.nested(12);
         tree const m = t.one_in(2) ? t.shape(64) : tree(1 + t.below(64));
         t.check(
             complement(l, m), [&](layout const& r) { return complement_law(l, m, r); }, l, m);
       }},
      {"complement1",
       [](trial& t) {
         layout const l = t.one_in(8) ? t.any(12) : t.nested(12);
         i64 const m = cosize(l);
         t.check(
             complement(l), [&](layout const& r) { return complement_law(l, m, r); }, l);
       }},
      {"right_inverse",
       [](trial& t) {
         layout const l = t.any(32);
         inverse(t, l, right_inverse(l), right_inverse_law);
       },
       75},  // of overlapping layouts any run is accepted, also a shorter one
      {"left_inverse",
       [](trial& t) {
         layout const l = t.one_in(4) ? t.any(32) : t.nested(32);
         inverse(t, l, left_inverse(l), left_inverse_law);
       },
       40},  // what R says of numbers that are no offset of L is free
      {"swizzle_right_inverse",
       [](trial& t) {
         layout const l = swizzled(t.any_swizzle(5), t.bits(64));
         inverse(t, l, right_inverse(l), right_inverse_law);
       },
       80},
      {"swizzle_left_inverse",
       [](trial& t) {
         layout const l = swizzled(t.any_swizzle(5), t.bits(64));
         inverse(t, l, left_inverse(l), left_inverse_law);
       },
       40},  // what R says of numbers that are no offset of L is free
      {"nullspace",
       [](trial& t) {
         layout l = t.with_sign(32);
         for (int k = 0; k < l.shape.n; ++k) {
           if (t.one_in(3)) l.stride[k] = num{};
         }
         t.check(
             nullspace(l), [&](layout const& r) { return nullspace_law(l, r); }, l);
       }},
      {"max_common_layout",
       [](trial& t) {
         layout const a = t.nested(48);
         layout const b = relative(t, a);
         t.check(
             max_common_layout(a, b),
             [&](layout const& r) { return max_common_layout_law(a, b, r); }, a, b);
       }},
      {"max_common_vector",
       [](trial& t) {
         layout const a = t.nested(32);
         common_vector(t, a, relative(t, a));
       }},
      {"swizzle_max_common_vector",
       [](trial& t) {
         layout const a = t.swizzled_layout(32);
         layout const b = t.one_in(2) ? linear_part(a) : relative(t, a);
         t.one_in(2) ? common_vector(t, a, b) : common_vector(t, b, a);
       }},
      {"max_alignment",
       [](trial& t) {
         layout const l = t.one_in(2) ? t.any(32) : t.nested(32);
         t.check(
             max_alignment(l), [&](i64 v) { return max_alignment_law(l, v); }, l);
       }},
      {"swizzle_max_alignment",
       [](trial& t) {
         layout const l = t.swizzled_layout(32);
         t.check(
             max_alignment(l), [&](i64 v) { return max_alignment_law(l, v); }, l);
       }},
      {"domain_distribute",
       [](trial& t) {
         tree const s = t.shape(64);
         i64 const n = 1 + t.below(24);
         t.check(
             domain_distribute(s, n),
             [&](layout const& r) { return domain_distribute_law(s, n, r); }, s, n);
       }},
  };
}

}  // namespace tw_test
