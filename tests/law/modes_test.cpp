// SPDX-License-Identifier: Apache-2.0
// modes_test.cpp  Random inputs for the laws of mode lists, slices and local tiles.
#include "tests/law/trial.hpp"

namespace tw_test {
namespace {

using namespace tw;

/// Indices begin < end of modes of l.
struct mode_range_of {
  int begin, end;
};
mode_range_of some_modes(trial& t, layout const& l) {
  int const begin = static_cast<int>(t.below(rank(l)));
  return {begin, begin + 1 + static_cast<int>(t.below(rank(l) - begin))};
}

/// A tuple of tuples, all of one rank.
layout table(trial& t) {
  i64 const columns = 1 + t.below(3);
  layout out;
  for (i64 i = 1 + t.below(3); i > 0; --i) {
    layout row;
    for (i64 k = 0; k < columns; ++k) detail::append(row, t.one_in(3) ? t.any(6) : layout(2, 3));
    detail::wrap(row);
    detail::append(out, row);
  }
  detail::wrap(out);
  return out;
}

void slice_case(trial& t, layout const& l, bool as_pair) {
  tree const c = t.coordinate(l.shape, 3);
  sliced const s = slice(l, c);
  std::string const kept = text(s.kept);
  t.check_as(
      as_pair ? "(" + kept + "," + text(s.offset) + ")" : kept, s.kept,
      [&](layout const& r) { return slice_law(l, c, r, s.offset); }, l, c);
}

/// A layout of powers of two and, for some of its modes, tiles and places.
struct tile_case {
  layout l;
  tree tile, at;
};
tile_case tiles(trial& t, bool numbers = false) {
  tile_case c;
  c.l = t.bits(128);
  if (c.l.shape.is_leaf()) detail::wrap(c.l);
  if (!numbers && t.one_in(4)) c.l = swizzled(t.any_swizzle(7), c.l);
  i64 const modes = 1 + t.below(rank(c.l));
  for (int i = 0; i < modes; ++i) {
    i64 const n = size(mode(c.l, i));
    i64 extent = 1;
    while (extent < n && t.one_in(2)) extent *= 2;
    detail::append(c.tile, tree(extent));
    detail::append(c.at, t.one_in(3) ? tree(any) : tree(t.below(n / extent)));
  }
  detail::wrap(c.tile);
  detail::wrap(c.at);
  return c;
}

}  // namespace

std::vector<law_case> modes_cases() {
  return {
      {"take",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         auto const [begin, end] = some_modes(t, l);
         t.check(
             take(l, begin, end), [&](layout const& r) { return take_law(l, begin, end, r); }, l,
             begin, end);
       }},
      {"select",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         tree which;
         for (i64 i = 1 + t.below(3); i > 0; --i) detail::append(which, tree(t.below(rank(l))));
         detail::wrap(which);
         t.check(
             select(l, which), [&](layout const& r) { return select_law(l, which, r); }, l, which);
       }},
      {"group",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         auto const [begin, end] = some_modes(t, l);
         t.check(
             group(l, begin, end), [&](layout const& r) { return group_law(l, begin, end, r); }, l,
             begin, end);
       }},
      {"append",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         layout const m = t.any(8);
         t.check(
             append_mode(l, m), [&](layout const& r) { return append_law(l, m, r); }, l, m);
       }},
      {"append4",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         t.check(
             pad_rank(l, 4), [&](layout const& r) { return append4_law(l, r); }, l);
       }},
      {"prepend",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         layout const m = t.any(8);
         t.check(
             prepend_mode(l, m), [&](layout const& r) { return prepend_law(l, m, r); }, l, m);
       }},
      {"zip",
       [](trial& t) {
         layout const l = table(t);
         t.check(
             zip(l), [&](layout const& r) { return zip_law(l, r); }, l);
       }},
      {"flatten",
       [](trial& t) {
         layout const l = t.one_in(4) ? t.swizzled_layout(24) : t.with_sign();
         t.check(
             flatten(l), [&](layout const& r) { return flatten_law(l, r); }, l);
       }},
      {"slice", [](trial& t) { slice_case(t, t.with_sign(), false); }},
      {"swizzle_slice_static", [](trial& t) { slice_case(t, t.swizzled_layout(64, true), true); }},
      {"swizzle_slice_tensor", [](trial& t) { slice_case(t, t.swizzled_layout(64, true), false); }},
      {"dice",
       [](trial& t) {
         layout const l = t.any_or_swizzled();
         tree const c = t.coordinate(l.shape, 3);
         t.check(
             dice(l, c), [&](layout const& r) { return dice_law(l, c, r); }, l, c);
       }},
      {"local_tile",
       [](trial& t) {
         auto const [l, tile, at] = tiles(t);
         sliced const s = local_tile(l, tile_of(tile), at);
         t.check(
             s.kept, [&](layout const& r) { return local_tile_law(l, tile, at, r, s.offset); }, l,
             tile, at);
       }},
      {"local_tile_proj",
       [](trial& t) {
         auto const [l, tile, at] = tiles(t);
         tree all_tiles;  // with modes that `which` leaves out in between
         tree all_at;
         tree which;
         for (int i = 0; i < rank(tile); ++i) {
           for (bool more = t.one_in(2); more; more = t.one_in(3)) {
             detail::append(all_tiles, tree(1 + t.below(4)));
             detail::append(all_at, tree(t.below(4)));
             detail::append(which, tree(any));
           }
           detail::append(all_tiles, mode(tile, i));
           detail::append(all_at, mode(at, i));
           detail::append(which, tree(1));
         }
         detail::wrap(all_tiles);
         detail::wrap(all_at);
         detail::wrap(which);
         sliced const s = local_tile(l, all_tiles, all_at, which);
         t.check(
             s.kept, [&](layout const& r) { return local_tile_law(l, tile, at, r, s.offset); }, l,
             all_tiles, all_at, which);
       }},
      {"local_tile_identity",
       [](trial& t) {
         auto const [l, tile, at] = tiles(t, true);
         layout const places = make_identity_layout(l.shape);
         answer const a = call("local_tile_identity", {text(l.shape), text(tile), text(at)});
         layout const numbers = meaning::numbered(places, places);
         i64 const start = meaning::at(numbers, crd2idx(*a.origin, make_layout_left(l.shape)));
         t.check(
             *a.function,
             [&](layout const& r) {
               return local_tile_law(numbers, tile, at, meaning::numbered(r, places), start);
             },
             l.shape, tile, at);
       }},
      {"local_partition",
       [](trial& t) {
         auto const [l, tile, at] = tiles(t);
         layout const threads = make_ordered_layout(tile, t.renumbered(tile, 0, 5));
         i64 const i = t.below(size(threads));
         sliced const s = local_partition(l, threads, i);
         t.check(
             s.kept,
             [&](layout const& r) { return local_partition_law(l, threads, i, r, s.offset); }, l,
             threads, i);
       }},
  };
}

}  // namespace tw_test
