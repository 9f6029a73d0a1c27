// SPDX-License-Identifier: Apache-2.0
// tiles_test.cpp  Random inputs for the laws of divides, products, recasts and swizzles.
#include "tests/law/trial.hpp"

namespace tw_test {
namespace {

using namespace tw;

using divide = layout (*)(layout const&, tiler const&);
using tiler_law = bool (*)(layout const&, tiler const&, layout const&);

/// A tiler for a divide of l: a layout of its digits, or a tuple.
tiler cutter(trial& t, layout const& l, bool keep) {
  if (l.shape.is_leaf() || t.one_in(3)) return t.reader(coalesce(linear_part(l)).shape);
  return t.tuple_tiler(l, keep);
}

template <divide Apply, tiler_law Law, bool keep>
void divide_case(trial& t) {
  layout const l = t.one_in(5) ? t.swizzled_layout(32) : t.with_sign();
  tiler const by = cutter(t, l, keep);
  t.check(
      Apply(l, by), [&](layout const& r) { return Law(l, by, r); }, l, by);
}

/// Tiles that do not divide: two modes, tiles of any extent.
void ragged(trial& t) {
  layout const l =
      make_ordered_layout(make_shape(1 + t.below(7), 1 + t.below(7)), make_tree(t.below(2), 1));
  tiler const by = tile(1 + t.below(5), 1 + t.below(5));
  t.check(
      zipped_divide(l, by), [&](layout const& r) { return zipped_divide_law(l, by, r); }, l, by);
}

void identity_divide(trial& t) {
  tree const s = t.shape(32);
  layout const l = make_identity_layout(s.is_leaf() ? make_tree(s) : s);
  tiler const by = cutter(t, l, true);
  t.check(
      zipped_divide(l, by), [&](layout const& r) { return zipped_divide_law(l, by, r); }, l, by);
}

/// The copies of a block: compact, or some of their strides 0 or scaled.
layout copies(trial& t) {
  if (t.one_in(3)) return {1 + t.below(5), 1};
  layout b = t.nested(8);
  for (int k = 0; k < b.shape.n; ++k) b.stride[k].v = b.stride[k].v > 16 ? 1 : b.stride[k].v;
  return b;
}

layout block(trial& t) { return t.one_in(6) ? t.swizzled_layout(16) : t.nested(12); }

template <divide Apply, tiler_law Law>
void product_case(trial& t) {
  layout const a = block(t);
  layout const b = copies(t);
  t.check(
      Apply(a, b), [&](layout const& r) { return Law(a, b, r); }, a, b);
}

template <divide Apply, tiler_law Law>
void product_by_mode(trial& t) {
  layout a = block(t);
  if (a.shape.is_leaf()) detail::wrap(a);
  tiler by;
  for (i64 i = 1 + t.below(rank(a)); i > 0; --i) {
    tiler const part = t.one_in(6)   ? tiler(any)
                       : t.one_in(3) ? tiler(copies(t))
                                     : tiler(1 + t.below(4));
    by.split |= part.split << (4 * by.cells.shape.n);
    detail::append(by.cells, part.cells);
  }
  detail::wrap(by.cells);
  by.split += 1;
  t.check(
      Apply(a, by), [&](layout const& r) { return Law(a, by, r); }, a, by);
}

using join = layout (*)(layout const&, layout const&);
using join_law = bool (*)(layout const&, layout const&, layout const&);

template <join Apply, join_law Law>
void join_case(trial& t) {
  layout const a = block(t);
  layout const b = copies(t);
  t.check(
      Apply(a, b), [&](layout const& r) { return Law(a, b, r); }, a, b);
}

void fill(trial& t, layout const& a) {
  int const n = rank(a);
  tree shape;
  tree order;
  for (int i = 0; i < n; ++i) {
    detail::append(shape, tree(size(mode(a, i)) * (1 + t.below(3))));
    detail::append(order, tree(t.below(4)));
  }
  detail::wrap(shape);
  detail::wrap(order);
  bool const column_major = t.one_in(2);
  for (int i = 0; column_major && i < n; ++i) order.leaf[i] = num{i};
  t.check(
      column_major ? tile_to_shape(a, shape) : tile_to_shape(a, shape, order),
      [&](layout const& r) { return tile_to_shape_law(a, shape, order, r); }, a, shape, order);
}

/// Strides that n divides or that divide n, each element once.
void up(trial& t, layout const& l, i64 n) {
  t.check(
      upcast(l, n), [&](layout const& r) { return upcast_law(l, n, r); }, l, n);
}

/// One leaf of stride 1, others larger.
layout with_unit(trial& t) {
  layout l = t.nested(24);
  for (int k = 0; k < l.shape.n; ++k) {
    if (l.stride[k].v == 1) return l;
  }
  for (int k = 0; k < l.shape.n; ++k) l.stride[k].v *= 2;
  l.stride[t.below(l.shape.n)] = num{1};
  return l;
}

void down(trial& t, layout const& l, i64 n) {
  t.check(
      downcast(l, n), [&](layout const& r) { return downcast_law(l, n, r); }, l, n);
}

}  // namespace

std::vector<law_case> tiles_cases() {
  return {
      {"logical_divide", divide_case<logical_divide, logical_divide_law, true>},
      {"zipped_divide", divide_case<zipped_divide, zipped_divide_law, true>},
      {"tiled_divide", divide_case<tiled_divide, tiled_divide_law, true>},
      {"flat_divide", divide_case<flat_divide, flat_divide_law, true>},
      {"zipped_divide_ragged", ragged},
      {"identity_zipped_divide", identity_divide},
      {"swizzle_logical_divide",
       [](trial& t) {
         layout const l = t.swizzled_layout(32);
         tiler const by = cutter(t, l, true);
         t.check(
             logical_divide(l, by), [&](layout const& r) { return logical_divide_law(l, by, r); },
             l, by);
       }},
      {"logical_product", product_case<logical_product, logical_product_law>},
      {"zipped_product", product_case<zipped_product, zipped_product_law>},
      {"tiled_product", product_case<tiled_product, tiled_product_law>},
      {"flat_product", product_case<flat_product, flat_product_law>},
      {"logical_product_tiler", product_by_mode<logical_product, logical_product_law>},
      {"zipped_product_tiler", product_by_mode<zipped_product, zipped_product_law>},
      {"tiled_product_tiler", product_by_mode<tiled_product, tiled_product_law>},
      {"flat_product_tiler", product_by_mode<flat_product, flat_product_law>},
      {"blocked_product", join_case<blocked_product, blocked_product_law>},
      {"raked_product", join_case<raked_product, raked_product_law>},
      {"tile_to_shape", [](trial& t) { fill(t, t.nested(8, false)); }},
      {"swizzle_tile_to_shape", [](trial& t) { fill(t, t.swizzled_layout(16)); }},
      {"upcast",
       [](trial& t) {
         i64 const n = t.pick({1, 2, 2, 3, 4, 8});
         layout l = t.one_in(6) ? t.any() : t.bits(32);
         bool const down = t.one_in(8);
         for (int k = 0; down && k < l.shape.n; ++k) l.stride[k].v = -l.stride[k].v;
         up(t, l, n);
       }},
      {"swizzle_upcast",
       [](trial& t) { up(t, t.swizzled_layout(64, true), i64{1} << t.below(4)); }},
      {"downcast", [](trial& t) { down(t, with_unit(t), 1 + t.below(4)); }},
      {"swizzle_downcast",
       [](trial& t) {
         layout l = t.swizzled_layout(32);
         l.stride[0] = num{l.shape.leaf[0].v > 1 ? l.stride[0].v : 1};
         down(t, l, i64{1} << t.below(3));
       }},
      {"recast_layout",
       [](trial& t) {
         layout const l = with_unit(t);
         i64 const from = i64{4} << t.below(4);
         i64 const to = i64{4} << t.below(4);
         t.check(
             recast(l, from, to), [&](layout const& r) { return recast_law(l, from, to, r); }, l,
             from, to);
       }},
      {"swizzle",
       [](trial& t) {
         swizzle const s = t.any_swizzle(8);
         t.check(
             s, [&](swizzle r) { return r == s && swizzle_law(r); }, s);
       }},
      {"swizzle_layout",
       [](trial& t) {
         layout const l = t.swizzled_layout(64, true);
         t.check_as(
             text(l), l,
             [&](layout const& r) {
               bool same = r.shape == l.shape;
               for (i64 i = 0; i < size(l); ++i) same = same && at_law(l, i, r(i));
               return same;
             },
             l);
       }},
      {"make_swizzle",
       [](trial& t) {
         swizzle const s = t.any_swizzle(12);
         i64 const y = s.y_mask();
         i64 const z = s.z_mask();
         t.check(
             make_swizzle_of_masks(y, z), [&](swizzle r) { return make_swizzle_law(y, z, r); }, y,
             z);
       }},
      {"swizzle_compose",
       [](trial& t) {
         swizzle const a = t.any_swizzle(12);
         swizzle b = t.one_in(4) ? t.any_swizzle(12) : a;
         if (t.one_in(2)) b.base = a.base + a.bits;
         if (t.one_in(2)) b.bits = static_cast<int>(t.below(2));
         t.check(
             compose(a, b), [&](swizzle c) { return compose_law(a, b, c); }, a, b);
       }},
  };
}

}  // namespace tw_test
