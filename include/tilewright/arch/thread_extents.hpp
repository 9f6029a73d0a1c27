// SPDX-License-Identifier: Apache-2.0
// thread_extents.hpp  CTAs of two or three dimensions: a kernel's threads are numbered along x,
//                     then y, then z, as CUDA numbers them; warps are 32 neighbours of that number.
#pragma once

#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"

namespace tw::detail {

template <class K>
TW_HD constexpr extents3 thread_index(int thread) {
  constexpr extents3 e = K::thread_extents;
  static_assert(e.count() == K::threads, "[TW0279] K::threads is K::thread_extents.count()");
  return {thread % e.x, thread / e.x % e.y, thread / (e.x * e.y)};
}

}  // namespace tw::detail
