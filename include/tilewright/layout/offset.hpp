// SPDX-License-Identifier: Apache-2.0
// offset.hpp  Offsets in a kernel: the layout is a template argument, the coordinates are not.
//
//     offset<L>(i, j)           L static: extents, strides and the swizzle become immediates
//     offset<L>(args, i, j)     L with run-time leaves: args are the values of its arguments
//
// Each mode is coalesced first: what remains is what a hand-written address calculation contains.
// Arithmetic: coordinates count in unsigned 32 bits (64 for modes of more than 2^32 cells). The
// offset of a static layout is an unsigned 32-bit number where all its offsets are below 2^32 and
// no stride is negative, otherwise a signed 64-bit one, as it is where leaves are known at run
// time.
// Swizzle:  where every leaf is a power of two that owns its own bits, s(a + b) == s(a) ^ s(b). The
//           leaves that touch bits of the swizzle are swizzled one by one and xored, the others
//           added, so that constant coordinates of unrolled loops become immediates.
//           moved_by(offset, parts) steps from a swizzled offset to another one in the same way.
// Needs:    one coordinate >= 0 per mode, inside its mode [TW0110]; one argument for each that L
//           uses [TW0134]; strides that are numbers [TW0109]
// Ensures:  offset<L>(i, j, ...) == L(i, j, ...); offset<L>(args, i, ...) == bound(L, args)(i, ...)
// Example:  offset<stile>(row, column)       tests/layout/offset_test.cpp
#pragma once

#include "tilewright/layout/bind.hpp"
#include "tilewright/layout/bits.hpp"
#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

/// s o l with s(l(a) + l(b)) == s(l(a)) ^ s(l(b)) for the offsets of different leaves.
TW_HD constexpr bool is_linear(layout const& l) {
  i64 const bits = moved_bits(l);
  return bits >= 0 && (bits & l.offset) == 0;
}

/// The offset of coordinates in a layout that is_linear() or not swizzled, in two parts.
template <class I>
struct offset_parts {
  I xored = 0;  // swizzled: from leaves that touch bits of the swizzle
  I added = 0;  // from the others
};

/// The swizzled offset of cell a + b, from that of a and the parts of b.
template <class I>
TW_HD constexpr I moved_by(I offset, offset_parts<I> const& by) {
  return (offset ^ by.xored) + by.added;
}

namespace detail {

template <bool Wide, class Narrow, class Other>
struct choose_type {
  using type = Narrow;
};
template <class Narrow, class Other>
struct choose_type<true, Narrow, Other> {
  using type = Other;
};

/// Offsets of l do not fit in unsigned 32 bits.
TW_HD constexpr bool is_wide(layout const& l) {
  i64 last = l.offset;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_basis(l.stride[i]) || l.stride[i].v < 0) return l.stride[i].v < 0;
    last = plus(last, times(l.extent(i) - 1, number(l.stride[i])));
  }
  i64 const top = l.swizzled() ? l.sw.y_mask() | l.sw.z_mask() : 0;
  return (last | top) >> 32 != 0;
}
TW_HD constexpr bool is_large(layout const& l) {
  return is_static(l.shape) && size(l) > i64{1} << 32;
}

/// The arithmetic of offsets of L, and of coordinates in it.
template <layout L>
using offset_type = typename choose_type<is_wide(L), std::uint32_t, i64>::type;
template <layout L>
using index_type = typename choose_type<is_large(L), std::uint32_t, std::uint64_t>::type;

/// The bits of its offset that leaf i moves.
TW_HD constexpr i64 leaf_bits(layout const& l, int i) {
  return times(l.extent(i) - 1, number(l.stride[i]));
}

/// Leaves Leaf, Leaf + 1, ... of Mode, applied to an index. The swizzle, if any, is linear.
template <layout Mode, int Leaf, class I, class Index>
TW_HD constexpr void add_leaves(offset_parts<I>& sum, Index index) {
  static_assert(!is_basis(Mode.stride[Leaf]), "[TW0109] basis strides have no offset");
  constexpr bool last = Leaf + 1 == Mode.shape.n;
  constexpr swizzle s = Mode.sw;
  constexpr auto stride = static_cast<I>(Mode.stride[Leaf].v);
  I term = 0;
  if constexpr (last) {
    term = static_cast<I>(index) * stride;
  } else {
    constexpr auto extent = static_cast<Index>(Mode.extent(Leaf));
    term = static_cast<I>(index % extent) * stride;
    index /= extent;
  }
  if constexpr (is_identity(s)) {
    sum.added += term;
  } else if constexpr ((leaf_bits(Mode, Leaf) & (s.y_mask() | s.z_mask())) == 0) {
    sum.added += term;
  } else if constexpr ((leaf_bits(Mode, Leaf) & s.y_mask()) == 0) {
    sum.xored ^= term;
  } else {
    sum.xored ^= s(term);
  }
  if constexpr (!last) add_leaves<Mode, Leaf + 1>(sum, index);
}

template <layout L, class I, class C>
TW_HD constexpr void add_mode(offset_parts<I>& sum, C index) {
  constexpr layout merged = coalesce(L);
  add_leaves<merged, 0>(sum, static_cast<index_type<merged>>(index));
}

template <layout L, int Mode, class I, class First, class... Rest>
TW_HD constexpr void add_modes(offset_parts<I>& sum, First first, Rest... rest) {
  add_mode<mode(L, Mode)>(sum, first);
  if constexpr (sizeof...(Rest) > 0) add_modes<L, Mode + 1>(sum, rest...);
}

/// Value of a leaf that is known at run time, without the checks of value_of().
template <num N>
TW_HD constexpr i64 leaf_value(i64 const* args) {
  if constexpr (!is_argument(N)) {
    return N.v;
  } else if constexpr (argument_divisor(N) == 1) {
    return N.v * args[argument_index(N)];
  } else {
    constexpr auto divisor = static_cast<std::uint64_t>(argument_divisor(N));
    auto const up = static_cast<std::uint64_t>(args[argument_index(N)]) + (divisor - 1);
    return N.v * static_cast<i64>(up / divisor);
  }
}

/// The part of an offset that is small for certain, in 32 bits, and the rest.
struct run_time_sum {
  std::uint32_t narrow = 0;
  i64 wide = 0;
};

/// Largest sum of the leaves whose extent and stride are numbers, or -1 where a stride is negative.
TW_HD constexpr i64 static_reach(layout const& l) {
  i64 reach = l.offset;
  for (int i = 0; i < l.shape.n; ++i) {
    if (is_argument(l.shape.leaf[i]) || is_argument(l.stride[i])) continue;
    if (l.stride[i].v < 0) return -1;
    reach = plus(reach, times(l.extent(i) - 1, l.stride[i].v));
  }
  return reach;
}

template <layout Mode, int Leaf, bool Narrow>
TW_HD constexpr void add_leaves(run_time_sum& sum, i64 const* args, std::uint32_t index) {
  static_assert(!is_basis(Mode.stride[Leaf]), "[TW0109] basis strides have no offset");
  constexpr bool last = Leaf + 1 == Mode.shape.n;
  constexpr num extent = Mode.shape.leaf[Leaf];
  constexpr num stride = Mode.stride[Leaf];
  std::uint32_t c = index;
  if constexpr (!last) {
    auto const n = static_cast<std::uint32_t>(leaf_value<extent>(args));
    c = index % n;
    index /= n;
  }
  if constexpr (Narrow && !is_argument(extent) && !is_argument(stride)) {
    sum.narrow += c * static_cast<std::uint32_t>(stride.v);
  } else if constexpr (stride.v != 0) {
    sum.wide += static_cast<i64>(c) * leaf_value<stride>(args);
  }
  if constexpr (!last) add_leaves<Mode, Leaf + 1, Narrow>(sum, args, index);
}

template <layout L, int Mode, class First, class... Rest>
TW_HD constexpr void add_modes(run_time_sum& sum, i64 const* args, First first, Rest... rest) {
  constexpr layout merged = coalesce(linear_part(mode(L, Mode)));
  constexpr bool narrow = static_reach(L) >= 0 && static_reach(L) >> 32 == 0;
  add_leaves<merged, 0, narrow>(sum, args, static_cast<std::uint32_t>(first));
  if constexpr (sizeof...(Rest) > 0) add_modes<L, Mode + 1>(sum, args, rest...);
}

}  // namespace detail

/// The parts of L(index...) without L.offset, for moved_by(). L is linear or not swizzled.
template <layout L, integer_like... I>
TW_HD constexpr auto parts_of(I... index) {
  static_assert(!L.swizzled() || is_linear(L), "[TW0116] the swizzle of this layout is not linear");
  static_assert(sizeof...(I) == rank(L) || sizeof...(I) == 1,
                "[TW0110] parts_of<L> takes one coordinate for each mode");
  offset_parts<detail::offset_type<L>> sum;
  if constexpr (sizeof...(I) == 1 && rank(L) != 1) {
    (detail::add_mode<L>(sum, index), ...);
  } else {
    detail::add_modes<L, 0>(sum, index...);
  }
  return sum;
}

/// Offset of a coordinate (or of one index) in a static layout.
template <layout L, integer_like... I>
TW_HD constexpr auto offset(I... index) {
  static_assert(sizeof...(I) == rank(L) || sizeof...(I) == 1,
                "[TW0110] offset<L> takes one coordinate for each mode");
  using result = detail::offset_type<L>;
  if constexpr (!L.swizzled() || is_linear(L)) {
    return moved_by(static_cast<result>(L.sw(L.offset)), parts_of<L>(index...));
  } else {
    constexpr auto start = static_cast<result>(L.offset);
    return L.sw(static_cast<result>(start + offset<linear_part(L)>(index...)));
  }
}

/// Offset in a layout with run-time leaves; `args` holds their values.
template <layout L, int K, integer_like... I>
TW_HD constexpr i64 offset(arguments<K> const& args, I... index) {
  static_assert(arguments_of(L) <= K, "[TW0134] the layout uses more arguments than are given");
  static_assert(sizeof...(I) == rank(L) || sizeof...(I) == 1,
                "[TW0110] offset<L> takes one coordinate for each mode");
  if constexpr (is_static(L)) {
    return static_cast<i64>(offset<L>(index...));
  } else {
    detail::run_time_sum sum;
    if constexpr (sizeof...(I) == 1 && rank(L) != 1) {
      detail::add_modes<make_layout(linear_part(L)), 0>(sum, args.v, index...);
    } else {
      detail::add_modes<L, 0>(sum, args.v, index...);
    }
    return L.sw(L.offset + sum.wide + static_cast<i64>(sum.narrow));
  }
}

}  // namespace tw
