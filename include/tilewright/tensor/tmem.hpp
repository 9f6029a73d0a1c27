// SPDX-License-Identifier: Apache-2.0
// tmem.hpp  Tensors in tensor memory: lane and column of each element. No loads: addresses only.
//
//     auto acc = make_tmem_tensor<float, "(128,256):(1@0,1@1)"_L>(base);
//     acc(i, j)          tmem_address: lane + i, column + j
//     acc(_, 16)         the same tensor from column 16 on
//
// Strides are basis strides: @0 counts lanes, @1 columns of 32 bits (PTX ISA, "Tensor Memory
// Addressing": bits 31-16 of an address are the lane, bits 15-0 the column). Elements have 32 bits;
// narrower ones are held as packet<bf16, 2>.
// Needs:    elements of 32 bits [TW0148]; basis strides [TW0149]; lanes below 128 and columns below
//           512 after the base address [TW0154]
// Example:  tests/tensor/algorithm_test.cpp
#pragma once

#include "tilewright/tensor/tmem_size.hpp"
#include "tilewright/tensor/view.hpp"

namespace tw {

namespace detail {

/// One past the largest lane (path 1) or column (path 2) of l.
TW_HD constexpr i64 tmem_reach(layout const& l, std::uint32_t path) {
  i64 last = 0;
  for (int i = 0; i < l.shape.n; ++i) {
    if (l.stride[i].unit == path) last += times(l.extent(i) - 1, l.stride[i].v);
  }
  return last + 1;
}

}  // namespace detail

template <class T, layout L>
TW_HD constexpr tensor<T, L, tmem> make_tmem_tensor(tmem_address base) {
  static_assert(detail::need_lanes_and_columns(detail::tmem_reach(L, 1), tmem_lanes));
  static_assert(detail::need_lanes_and_columns(detail::tmem_reach(L, 2), tmem_columns));
  return {base};
}

}  // namespace tw
