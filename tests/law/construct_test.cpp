// SPDX-License-Identifier: Apache-2.0
// construct_test.cpp  Random inputs for the laws of construction, sizes, coordinates, integer
// tuples.
#include "tests/law/trial.hpp"

namespace tw_test {
namespace {

using namespace tw;

/// Two trees of one profile, often equal in places.
struct two_trees {
  tree a, b;
};
two_trees alike(trial& t) {
  tree const a = t.renumbered(t.shape(), 0, 3);
  tree b = t.renumbered(a, 0, 3);
  for (int k = 0; k < b.n; ++k) {
    if (t.one_in(2)) b.leaf[k] = a.leaf[k];
  }
  return {a, b};
}

/// Two shapes: one profile, or one coarser than the other, or any; sizes often the same.
two_trees shapes(trial& t) {
  tree const b = t.shape(48);
  i64 const kind = t.below(4);
  if (kind == 0) return {t.shape(48), b};
  if (kind == 1) return {t.renumbered(b, 1, 4), b};
  tree a = t.coarser(b);
  meaning::spans const m(a, b);
  for (int j = 0; j < a.n; ++j) {
    i64 n = 1;
    for (int k = m.begin[j]; k < m.begin[j + 1]; ++k) n *= b.leaf[k].v;
    a.leaf[j] = num{t.one_in(8) ? n + 1 : n};
  }
  return {a, b};
}

template <bool (*Apply)(tree const&, tree const&), bool (*Law)(tree const&, tree const&, bool)>
void order(trial& t) {
  auto const [a, b] = alike(t);
  t.check(
      Apply(a, b), [&](bool v) { return Law(a, b, v); }, a, b);
}

template <bool (*Apply)(tree const&, tree const&), bool (*Law)(tree const&, tree const&, bool)>
void profile(trial& t) {
  auto const [a, b] = shapes(t);
  t.check(
      Apply(a, b), [&](bool v) { return Law(a, b, v); }, a, b);
}

/// A divisor for a shape: an integer or, mode by mode, a tuple.
tree divisor(trial& t, tree const& a) {
  if (a.is_leaf() || t.one_in(2)) return tree(1 + t.below(12));
  tree b;
  for (i64 i = 1 + t.below(rank(a)); i > 0; --i) detail::append(b, tree(1 + t.below(5)));
  detail::wrap(b);
  return b;
}

tree leaves_only(tree const& s) {  // round_up divides numbers, not tuples of tuples
  tree out;
  for (int i = 0; i < rank(s); ++i) detail::append(out, tree(size(mode(s, i))));
  detail::wrap(out);
  return out;
}

}  // namespace

std::vector<law_case> construct_cases() {
  return {
      {"make_layout_left",
       [](trial& t) {
         tree const s = t.shape(48);
         t.check(
             make_layout_left(s), [&](layout const& r) { return make_layout_left_law(s, r); }, s);
       }},
      {"make_layout_right",
       [](trial& t) {
         tree const s = t.shape(48);
         t.check(
             make_layout_right(s), [&](layout const& r) { return make_layout_right_law(s, r); }, s);
       }},
      {"make_ordered_layout",
       [](trial& t) {
         tree const s = t.shape(48);
         tree const o = t.renumbered(t.coarser(s), -2, 3);
         t.check(
             make_ordered_layout(s, o),
             [&](layout const& r) { return make_ordered_layout_law(s, o, r); }, s, o);
       }},
      {"make_identity_layout",
       [](trial& t) {
         tree const s = t.shape(48);
         t.check(
             make_identity_layout(s),
             [&](layout const& r) { return make_identity_layout_law(s, r); }, s);
       }},
      {"make_layout_like",
       [](trial& t) {
         layout const l = t.with_sign(48);
         t.check(
             make_layout_like(l), [&](layout const& r) { return make_layout_like_law(l, r); }, l);
       }},
      {"make_fragment_like",
       [](trial& t) {
         layout const l = t.with_sign(48);
         t.check(
             make_fragment_like(l), [&](layout const& r) { return make_fragment_like_law(l, r); },
             l);
       }},
      {"size",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         t.check(
             size(l), [&](i64 n) { return size_law(l, n); }, l);
       }},
      {"cosize",
       [](trial& t) {
         layout const l = t.one_in(3) ? t.swizzled_layout(32) : t.with_sign();
         t.check(
             cosize(l), [&](i64 n) { return cosize_law(l, n); }, l);
       }},
      {"coshape",
       [](trial& t) {
         layout const l = t.with_sign();
         t.check(
             cosize(l), [&](i64 n) { return cosize_law(l, n); }, l);
       }},
      {"rank",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         t.check(
             rank(l), [&](i64 n) { return rank_law(l, n); }, l);
       }},
      {"depth",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         t.check(
             depth(l), [&](i64 n) { return depth_law(l, n); }, l);
       }},
      {"crd2idx",
       [](trial& t) {
         tree const s = t.shape(200);
         tree const c = t.coordinate(s);
         t.check(
             crd2idx(c, s), [&](i64 i) { return crd2idx_law(c, s, i); }, c, s);
       }},
      {"crd2idx3",
       [](trial& t) {
         tree const s = t.shape(200);
         tree const d = t.renumbered(s, -4, 40);
         tree const c = t.coordinate(s);
         t.check(
             crd2idx(c, make_layout(s, d)), [&](i64 x) { return crd2idx3_law(c, s, d, x); }, c, s,
             d);
       }},
      {"crd2idx_layout_int",
       [](trial& t) {
         layout const l = t.one_in(4) ? t.swizzled_layout(64, true) : t.with_sign(200);
         i64 const i = t.below(2 * size(l));
         t.check(
             l(i), [&](i64 x) { return at_law(l, i, x); }, i, l);
       }},
      {"idx2crd",
       [](trial& t) {
         tree const s = t.shape(200);
         i64 const i = t.below(3 * size(s)) - size(s);
         t.check(
             idx2crd(i, s), [&](tree const& c) { return idx2crd_law(i, s, c); }, i, s);
       }},
      {"idx2crd3",
       [](trial& t) {
         layout const l = t.nested(200);
         tree stride = l.shape;
         for (int k = 0; k < stride.n; ++k) stride.leaf[k] = l.stride[k];
         i64 const i = t.below(2 * size(l));
         std::string const by_name = call("idx2crd3", {text(i), text(l.shape), text(stride)}).res;
         tree const c = parse_tree(by_name.data(), static_cast<int>(by_name.size()));
         t.check(
             c, [&](tree const& r) { return idx2crd3_law(i, l.shape, stride, r); }, i, l.shape,
             stride);
       }},
      {"crd2crd",
       [](trial& t) {
         tree const from = t.shape(64);
         tree const c = t.coordinate(from);
         tree const to = t.one_in(2)   ? t.shape(64)
                         : t.one_in(2) ? tree(64)
                                       : t.renumbered(from, 1, 4);
         t.check(
             crd2crd(c, from, to), [&](tree const& r) { return crd2crd_law(c, from, to, r); }, c,
             from, to);
       }},
      {"ceil_div",
       [](trial& t) {
         tree const a = t.renumbered(t.shape(), 1, 12);
         tree const b = divisor(t, a);
         t.check(
             ceil_div(a, b), [&](tree const& q) { return ceil_div_law(a, b, q); }, a, b);
       }},
      {"shape_div",
       [](trial& t) {
         tree const a = t.shape(200);
         tree const b = t.one_in(2) ? tree(i64{1} << t.below(3)) : divisor(t, a);
         t.check(
             shape_div(a, b), [&](tree const& q) { return shape_div_law(a, b, q); }, a, b);
       }},
      {"round_up",
       [](trial& t) {
         tree const a = t.one_in(3) ? tree(1 + t.below(40)) : leaves_only(t.shape(60));
         tree b = tree(1 + t.below(9));
         for (int i = 1; !a.is_leaf() && i < 2; ++i) b = t.renumbered(a, 1, 6);
         t.check(
             round_up(a, b), [&](tree const& r) { return round_up_law(a, b, r); }, a, b);
       }},
      {"elem_less", order<elem_less, elem_less_law>},
      {"lex_less", order<lex_less, lex_less_law>},
      {"colex_less", order<colex_less, colex_less_law>},
      {"congruent", profile<congruent, congruent_law>},
      {"weakly_congruent", profile<weakly_congruent, weakly_congruent_law>},
      {"compatible", profile<compatible, compatible_law>},
      {"evenly_divides",
       [](trial& t) {
         tree const s = t.shape(48);
         i64 const n = 1 + t.below(16);
         t.check(
             evenly_divides(s, n), [&](bool v) { return evenly_divides_law(s, n, v); }, s, n);
       }},
  };
}

}  // namespace tw_test
