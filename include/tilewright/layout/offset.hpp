// SPDX-License-Identifier: Apache-2.0
// offset.hpp  offset<L>(i, j, ...): the offset of run-time coordinates, for kernels.
//
// The layout is a constant, the coordinates are not. Each mode is coalesced first, and divisors,
// strides and the swizzle become immediates: what a hand-written address calculation contains.
// Arithmetic is unsigned 32-bit: for layouts with offsets below 2^32 and coordinates >= 0.
// Needs:    one coordinate per mode, each an index into its mode [TW0110]; strides are integers
// Ensures:  offset<L>(i, j, ...) == L(i, j, ...)
// Example:  offset<stile>(row, column)       tests/layout/offset_test.cpp
#pragma once

#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/evaluate.hpp"

namespace tw {

namespace detail {

/// Leaves Leaf, Leaf + 1, ... of mode Mode of L, applied to an index.
template <layout Mode, int Leaf>
TW_HD constexpr std::uint32_t leaf_offset(std::uint32_t index) {
  constexpr auto extent = static_cast<std::uint32_t>(Mode.extent(Leaf));
  constexpr auto stride = static_cast<std::uint32_t>(Mode.stride[Leaf].v);
  static_assert(Mode.stride[Leaf].unit == unit_none, "[TW0109] basis strides have no offset");
  if constexpr (Leaf + 1 == Mode.shape.n) {
    return index * stride;
  } else {
    return index % extent * stride + leaf_offset<Mode, Leaf + 1>(index / extent);
  }
}

template <layout L, int Mode>
TW_HD constexpr std::uint32_t mode_offset(std::uint32_t index) {
  return leaf_offset<coalesce(plain(mode(L, Mode))), 0>(index);
}

template <layout L, int Mode, class First, class... Rest>
TW_HD constexpr std::uint32_t sum_of_modes(First first, Rest... rest) {
  std::uint32_t const here = mode_offset<L, Mode>(static_cast<std::uint32_t>(first));
  if constexpr (sizeof...(Rest) == 0) {
    return here;
  } else {
    return here + sum_of_modes<L, Mode + 1>(rest...);
  }
}

}  // namespace detail

template <layout L, class... I>
TW_HD constexpr std::uint32_t offset(I... index) {
  if constexpr (sizeof...(I) == 1 && rank(L) != 1) {
    return L.sw(
        static_cast<std::uint32_t>(L.offset) +
        (detail::leaf_offset<coalesce(plain(L)), 0>(static_cast<std::uint32_t>(index)) + ...));
  } else {
    static_assert(sizeof...(I) == rank(L), "[TW0110] offset<L> takes one coordinate for each mode");
    return L.sw(static_cast<std::uint32_t>(L.offset) + detail::sum_of_modes<L, 0>(index...));
  }
}

}  // namespace tw
