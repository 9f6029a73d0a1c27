// SPDX-License-Identifier: Apache-2.0
// quad.hpp  Accumulators as they travel between threads: four at a time.
#pragma once

namespace tw {

/// Accumulators 4q .. 4q+3 of a thread: its share of the columns 8q .. 8q+7 of a fragment.
template <class T>
struct alignas(16) quad {
  T v[4];
};

}  // namespace tw
