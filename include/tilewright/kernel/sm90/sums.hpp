// SPDX-License-Identifier: Apache-2.0
// sums.hpp  The types in which a kernel keeps its sums over K.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/kernel/sm90/config.hpp"

namespace tw {

/// The type of the sums that parts of K are added in, and that the main loop returns.
template <gemm_config C>
using sum_type = std::conditional_t<C.integer_sums(), std::int32_t, float>;

/// The type of the sums that the epilogue gets: integers where D is the sum itself.
template <gemm_config C>
using result_type = std::conditional_t<holds_integer_sums(C.d), std::int32_t, float>;

/// The sums of a warpgroup's fragments, (64, Cols) each.
template <gemm_config C, int Cols>
using sums_of = accumulator<Cols, sum_type<C>>[C.fragments()];

/// to = from, element by element: integers become the nearest float32.
template <class To, class From, int Fragments>
TW_DEVICE void convert_sums(To (&to)[Fragments], From (&from)[Fragments]) {
  unrolled<Fragments>([&](auto f) {
    TW_UNROLL
    for (int i = 0; i < To::size; ++i) to[f][i] = static_cast<float>(from[f][i]);
  });
}

/// to = from, of which a register holds two sums in f16.
template <class To, class From, int Fragments>
TW_DEVICE void widen_sums(To (&to)[Fragments], From (&from)[Fragments]) {
  unrolled<Fragments>([&](auto f) {
    TW_UNROLL
    for (int i = 0; i < From::size; ++i) {
      std::uint32_t const pair = from[f][i];
      to[f][2 * i] = to_float<elem::f16>(static_cast<std::uint16_t>(pair));
      to[f][2 * i + 1] = to_float<elem::f16>(static_cast<std::uint16_t>(pair >> 16));
    }
  });
}

}  // namespace tw
