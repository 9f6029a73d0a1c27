// SPDX-License-Identifier: Apache-2.0
// tiled_copy.hpp  A copy atom repeated over threads and values until it moves a tile.
//
//     tiled_copy(atom, thr, val)     thr and val say where threads and values stand in the tile:
//                                    (thr_m, thr_n) -> thread, (val_m, val_n) -> value
//     cotiled_copy(atom, tv, data)   tv says which address of the data (thread, value) moves
//
// tv(thread, value) is a place in the tile, counted column-major over the tiler's extents. From
// it and the atom follow layout_s and layout_d, the same for source and destination: the atom's
// reference side holds what tv says, and right_inverse(ref) o src says where the source has it.
// A tensor is partitioned by dividing it by the tiler and composing the tile with layout_s or
// layout_d; one thread's part is a slice: ((atom values, repeated), repeats along mode 0, 1, ...).
//
// Law:      partition_s(c, T, t) visits T's elements at layout_s(t, v) of every tile; over all
//           threads, each element of the tile as often as the atom's threads name it
// Needs:    whole atoms of threads and values [TW0231]; addresses inside the data [TW0232]
// Note:     threads beyond the last extend the last mode, as indices of layouts do
// Example:  tests/atom/tiled_copy_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/atom/copy_atom.hpp"

namespace tw {

struct tiled_copy {
  copy_atom atom;  // in values
  layout tv;       // (thread, value) -> place in the tile
  tiler tile;      // what of a tensor is a tile

  TW_HD constexpr i64 threads() const { return size(mode(tv, 0)); }
  TW_HD constexpr i64 values() const { return size(mode(tv, 1)); }

  bool operator==(tiled_copy const&) const = default;
};

/// The thread-value layout and the tiler as they are, checked.
TW_HD constexpr tiled_copy make_tiled_copy_of(copy_atom const& atom, layout const& tv,
                                              tiler const& tile) {
  tiled_copy const c{atom, tv, tile};
  if (c.threads() % atom.threads() != 0) refuse_copy_tile(c.threads(), atom.threads());
  if (c.values() % atom.values() != 0) refuse_copy_tile(c.values(), atom.values());
  return c;
}

TW_HD constexpr tiled_copy make_tiled_copy(copy_atom const& atom, layout const& thr,
                                           layout const& val) {
  layout const places = raked_product(thr, val);  // (m, n) -> (thread, value)
  layout const shape = make_layout(size(thr), size(val));
  tree extents;
  for (int i = 0; i < rank(places); ++i) detail::append(extents, tree(size(mode(places, i))));
  detail::wrap(extents);
  return make_tiled_copy_of(atom, composition(right_inverse(places), shape), tile_of(extents));
}

namespace detail {

/// The part of a tensor of the given extents that `places` (-> column-major index) touches, as a
/// tiler by mode, and `places` counted inside that part.
struct active_part {
  tiler tile;
  layout places;
};

TW_HD constexpr active_part find_active(tree const& extents, layout const& places) {
  active_part p;
  layout cells;
  for (int i = 0; i < extents.n; ++i) {
    layout along = make_layout_left(extents);
    for (int k = 0; k < extents.n; ++k) along.stride[k] = num{k == i ? 1 : 0};
    append(cells, filter(composition(along, places)));
  }
  wrap(cells);
  p.tile.cells = cells;
  p.tile.split = 1;  // one layout for each mode
  layout const part = composition(make_layout_left(extents), p.tile);
  p.places = composition(left_inverse(part), places);
  return p;
}

}  // namespace detail

namespace detail {

/// Refuses a map to places of `data` unless each place is one of data's and has the address that tv
/// says. Compares leaves, not cells: coalesced layouts of one function are equal.
TW_HD constexpr void check_covered(layout const& data, layout const& to_data, layout const& tv) {
  i64 least = 0, greatest = 0;  // places
  i64 address = 0;              // what tv says of the greatest
  for (int i = 0; i < to_data.shape.n; ++i) {
    i64 const reach = (to_data.extent(i) - 1) * to_data.stride[i].v;
    (reach < 0 ? least : greatest) += reach;
  }
  for (int i = 0; i < tv.shape.n; ++i) {
    i64 const reach = (tv.extent(i) - 1) * tv.stride[i].v;
    if (reach > 0) address += reach;
  }
  if (least < 0 || greatest >= size(data)) refuse_uncovered(address, size(data));
  if (coalesce(composition(data, to_data)) != coalesce(tv)) refuse_uncovered(address, size(data));
}

}  // namespace detail

/// tv: (thread, value) -> address; data: coordinate -> address.
TW_HD constexpr tiled_copy make_cotiled_copy(copy_atom const& atom, layout const& tv,
                                             layout const& data) {
  layout const to_data = composition(left_inverse(data), tv);
  detail::check_covered(data, to_data, tv);
  tree extents;
  for (int i = 0; i < rank(data); ++i) detail::append(extents, tree(size(mode(data, i))));
  detail::wrap(extents);
  detail::active_part const p = detail::find_active(extents, to_data);
  return make_tiled_copy_of(atom, p.places, p.tile);
}

namespace detail {

/// ((thread of the atom, its repeats), (value of the atom, its repeats)) -> place in the tile, for
/// the side of the atom that `side` describes.
TW_HD constexpr layout thread_values(tiled_copy const& c, layout const& side) {
  layout const atoms = zipped_divide(c.tv, tile(c.atom.threads(), c.atom.values()));
  layout const to_side = composition(right_inverse(c.atom.ref), side);
  layout const one = composition(mode(atoms, 0), to_side);
  layout const rest = mode(atoms, 1);
  layout const threads = coalesce(make_layout(mode(one, 0), mode(rest, 0)));
  layout const values = make_layout(coalesce(mode(one, 1)), coalesce(mode(rest, 1)));
  return make_layout(threads, values);
}

/// (thread, values, repeats of the tile along each mode) of a tensor.
TW_HD constexpr layout partitioned(tiled_copy const& c, layout const& tensor, layout const& side) {
  layout const d = zipped_divide(tensor, c.tile);
  layout const cells = composition(linear_part(mode(d, 0)), thread_values(c, side));
  layout const rest = linear_part(mode(d, 1));
  layout out;
  append(out, mode(cells, 0));
  append(out, mode(cells, 1));
  for (int i = 0; i < rank(rest); ++i) append(out, mode(rest, i));
  wrap(out);
  return swizzled_as(out, tensor);
}

TW_HD constexpr sliced part_of_thread(layout const& partition, i64 thread) {
  tree at = make_tree(thread);
  at = padded_coordinate(at, rank(partition));
  return slice(partition, at);
}

TW_HD constexpr sliced_coordinates coordinates_of_thread(layout const& partition, i64 thread) {
  return slice_coordinates(partition, padded_coordinate(make_tree(thread), rank(partition)));
}

/// Column-major over the extents of the tiler.
TW_HD constexpr layout tile_places(tiled_copy const& c) {
  return make_layout_left(c.tile.cells.shape);
}

}  // namespace detail

/// (thread, values) -> place in the tile, of the source.
TW_HD constexpr layout layout_s(tiled_copy const& c) {
  return composition(detail::tile_places(c), detail::thread_values(c, c.atom.src));
}
/// (thread, values) -> place in the tile, of the destination.
TW_HD constexpr layout layout_d(tiled_copy const& c) {
  return composition(detail::tile_places(c), detail::thread_values(c, c.atom.dst));
}

/// Source elements of thread `thread`: (values, repeats...), and where they begin.
TW_HD constexpr sliced partition_s(tiled_copy const& c, layout const& tensor, i64 thread) {
  return detail::part_of_thread(detail::partitioned(c, tensor, c.atom.src), thread);
}
/// Its destination elements.
TW_HD constexpr sliced partition_d(tiled_copy const& c, layout const& tensor, i64 thread) {
  return detail::part_of_thread(detail::partitioned(c, tensor, c.atom.dst), thread);
}

/// partition_s() of a tensor of coordinates, and the coordinate at which the part begins.
TW_HD constexpr sliced_coordinates partition_s_coordinates(tiled_copy const& c,
                                                           layout const& tensor, i64 thread) {
  return detail::coordinates_of_thread(detail::partitioned(c, tensor, c.atom.src), thread);
}
TW_HD constexpr sliced_coordinates partition_d_coordinates(tiled_copy const& c,
                                                           layout const& tensor, i64 thread) {
  return detail::coordinates_of_thread(detail::partitioned(c, tensor, c.atom.dst), thread);
}

/// A register fragment (v, m, n, ...) of another tiled operation over the same tile and threads,
/// in the order in which this copy takes its values: ((atom values, repeats), m, n, ...). The
/// fragment's mode 0 holds as many values as v first values of tv.
TW_HD constexpr layout retile(tiled_copy const& c, layout const& fragment) {
  i64 const held = size(mode(fragment, 0));
  tree extents;
  for (int i = 0; i < rank(c.tile); ++i) {
    detail::append(extents, tree(size(mode(detail::tile_places(c), i))));
  }
  detail::wrap(extents);
  // (m, n) -> which group of `held` values; several groups of a thread lie along m, n.
  layout const groups =
      upcast(composition(right_inverse(c.tv), make_layout_left(extents)), c.threads() * held);
  layout const order = zipped_divide(logical_product(layout(held, 1), right_inverse(groups)),
                                     layout(c.atom.values(), 1));
  tree all;
  detail::append(all, tree(held));
  for (int i = 0; i < rank(groups); ++i) detail::append(all, tree(size(mode(groups, i))));
  detail::wrap(all);
  layout const d = zipped_divide(fragment, tile_of(all));
  layout const values = composition(mode(d, 0), order);
  layout out;
  detail::append(out, values);
  layout const rest = mode(d, 1);
  for (int i = 1; i < rank(rest); ++i) detail::append(out, mode(rest, i));
  detail::wrap(out);
  return out;
}

}  // namespace tw
