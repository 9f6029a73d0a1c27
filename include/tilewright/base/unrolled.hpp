// SPDX-License-Identifier: Apache-2.0
// unrolled.hpp  A loop whose index is a compile-time constant from the start: for arrays of
//               registers in bodies too large for the compiler's own unrolling.
#pragma once

#include <utility>

#include "tilewright/base/hd.hpp"

namespace tw {

/// The number I as a type.
template <int I>
struct constant {
  TW_HD constexpr operator int() const { return I; }
};

/// act(0), act(1), ... act(N - 1); the argument converts to a constant int.
template <int N, class Act>
TW_DEVICE void unrolled(Act act) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (act(constant<I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

}  // namespace tw
