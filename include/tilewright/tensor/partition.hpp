// SPDX-License-Identifier: Apache-2.0
// partition.hpp  Tiles of a tensor, and the part of a tile that one thread owns.
//
//     local_tile<tile(128, 64)>(A, i, _)     tile row i: (128, 64, tile columns)
//     local_tile<tile(BM, BN, BK), "(1,_,1)"_T>(A, m, n, k)      of a tiler and a coordinate for
//                                            (m, n, k), those of A alone: BM, BK and m, k
//     partition<tile(16, 64), tv>(t, thread) (values, row repeats, column repeats): tv maps
//                                            (thread, value) to a cell of the 16 x 64 tile
//     partition<tv>(t, thread)               (values): the tile is all of t
//     local_partition<"(32,8):(8,1)"_L>(t, thread)
//                                            threads laid over t again and again: (rows, columns)
//
// The layouts are computed by the compiler, the offset of i or of the thread at run time.
// Law:      partition<tile, tv>(t, thread)(v, r...) is zipped_divide(t, tile)(tv(thread, v), r);
//           if tv is a bijection, every cell of t belongs to exactly one (thread, value, repeat)
// Needs:    what zipped_divide needs; tv inside the tile [TW0147]; a part of a swizzled tensor is
// cut
//           along bits [TW0146]. Ragged tiles stick out: predicate them (identity.hpp).
// Example:  tests/tensor/partition_test.cpp
#pragma once

#include "tilewright/layout/local.hpp"
#include "tilewright/layout/parse.hpp"
#include "tilewright/tensor/view.hpp"

namespace tw {

inline namespace literals {

/// A tree at compile time: "(1,_,1)"_T.
consteval tree operator""_T(char const* text, decltype(sizeof(0)) length) {
  return parse_tree(text, static_cast<int>(length));
}

}  // namespace literals

namespace detail {

/// t(_ x Before, c..., _ x After).
template <int Before, int After, class V, class... C>
TW_HD constexpr auto slice_between(V const& t, C const&... c) {
  if constexpr (Before > 0) {
    return slice_between<Before - 1, After>(t, _, c...);
  } else if constexpr (After > 0) {
    return slice_between<Before, After - 1>(t, c..., _);
  } else {
    return t(c...);
  }
}

/// The tile's modes, then the modes that say which tile.
TW_HD constexpr layout tiled_modes(layout const& l, tiler const& tile) {
  layout const d = zipped_divide(l, tile);
  return swizzled_as(joined(mode(d, 0), mode(d, 1)), l);
}

/// (thread, values, repeats...).
TW_HD constexpr layout thread_modes(layout const& l, tiler const& tile, layout const& tv) {
  layout const d = zipped_divide(linear_part(l), tile);
  return swizzled_as(joined(composition(mode(d, 0), tv), mode(d, 1)), l);
}

/// The modes of t that `which` does not mark with _.
TW_HD constexpr tiler marked_modes(tiler const& t, tree const& which) {
  tiler out;
  for (int i = 0; i < rank(which); ++i) {
    if (is_any(mode(which, i).leaf[0])) continue;
    tiler const m = mode(t, i);
    out.split |= m.split << (4 * out.cells.shape.n);
    append(out.cells, m.cells);
  }
  wrap(out.cells);
  out.split += 1;
  return out;
}

}  // namespace detail

/// The tile at a coordinate; modes marked _, and those without coordinate, are kept.
template <tiler Tile, tensor_like V, class... C>
TW_HD constexpr auto local_tile(V&& t, C const&... c) {
  constexpr layout tiled = detail::tiled_modes(map_of<V>, Tile);
  constexpr int inside = rank(mode(zipped_divide(linear_part(map_of<V>), Tile), 0));
  constexpr int left = rank(tiled) - inside - int{sizeof...(C)};
  static_assert(detail::need_rank(left < 0 ? int{sizeof...(C)} : inside,
                                  left < 0 ? rank(tiled) - inside : inside));
  return detail::slice_between<inside, left>(with_layout<detail::tiled_modes(map_of<V>, Tile)>(t),
                                             c...);
}

namespace detail {

template <tiler Tile, tree Which, int I, class V, class First, class... Rest>
TW_HD constexpr auto marked_tile(V&& t, First const& first, Rest const&... rest) {
  if constexpr (I == rank(Which)) {
    return local_tile<marked_modes(Tile, Which)>(t, first, rest...);
  } else if constexpr (is_any(mode(Which, I).leaf[0])) {
    return marked_tile<Tile, Which, I + 1>(t, rest...);
  } else {
    return marked_tile<Tile, Which, I + 1>(t, rest..., first);
  }
}

}  // namespace detail

/// Of a tiler and a coordinate with more modes than t has, those that Which does not mark with _.
template <tiler Tile, tree Which, tensor_like V, class... C>
TW_HD constexpr auto local_tile(V&& t, C const&... c) {
  static_assert(detail::need_rank(sizeof...(C), rank(Which)));
  return detail::marked_tile<Tile, Which, 0>(t, c...);
}

/// The part of one thread: (values, repeats of the tile along each mode).
template <tiler Tile, layout TV, tensor_like V, class I>
TW_HD constexpr auto partition(V&& t, I thread) {
  constexpr layout of_tile = mode(zipped_divide(linear_part(map_of<V>), Tile), 0);
  static_assert(detail::need_rank(rank(TV), 2));
  static_assert(detail::need_inside_tile(cosize(TV), size(of_tile)));
  return detail::slice_between<0, rank(detail::thread_modes(map_of<V>, Tile, TV)) - 1>(
      with_layout<detail::thread_modes(map_of<V>, Tile, TV)>(t), thread);
}

/// The part of one thread of a tile that is all of t: (values).
template <layout TV, tensor_like V, class I>
TW_HD constexpr auto partition(V&& t, I thread) {
  static_assert(detail::need_rank(rank(TV), 2));
  static_assert(detail::need_inside_tile(cosize(TV), size(map_of<V>)));
  return with_layout<swizzled_as(composition(linear_part(map_of<V>), TV), map_of<V>)>(t)(thread, _);
}

namespace detail {

/// Position of thread `index` in mode I of a layout of threads, as an index into the mode.
template <layout Threads, int I, int Leaf = 0>
TW_HD constexpr std::uint32_t thread_position(std::uint32_t index) {
  constexpr layout m = mode(Threads, I);
  if constexpr (Leaf == m.shape.n) {
    return 0;
  } else {
    constexpr auto n = static_cast<std::uint32_t>(m.extent(Leaf));
    constexpr auto d = static_cast<std::uint32_t>(m.stride[Leaf].v);
    std::uint32_t const here = d == 0 || n == 1 ? 0 : index / (d == 0 ? 1 : d) % n;
    return here + n * thread_position<Threads, I, Leaf + 1>(index);
  }
}

TW_HD constexpr tiler thread_tile(layout const& threads) {
  tree extents;
  for (int i = 0; i < rank(threads); ++i) append(extents, tree(size(mode(threads, i))));
  wrap(extents);
  return tile_of(extents);
}

template <layout Threads, class V, class... C>
TW_HD constexpr auto thread_part(V const& tiled, std::uint32_t index, C const&... c) {
  constexpr int at = sizeof...(C);
  if constexpr (at < rank(Threads)) {
    return thread_part<Threads>(tiled, index, c..., thread_position<Threads, at>(index));
  } else {
    return slice_between<0, rank(V::map) - at>(tiled, c...);
  }
}

}  // namespace detail

/// The cells of one thread: Threads says how many stand along each mode (shape) and which index
/// stands where (strides); they are repeated over t.
template <layout Threads, tensor_like V, class I>
TW_HD constexpr auto local_partition(V&& t, I index) {
  return detail::thread_part<Threads>(
      with_layout<detail::tiled_modes(map_of<V>, detail::thread_tile(Threads))>(t),
      static_cast<std::uint32_t>(index));
}

}  // namespace tw
