// SPDX-License-Identifier: Apache-2.0
// tmem_size.hpp  Tensor memory of a CTA: 128 lanes of 512 columns of 32 bits, and how many of them
//                an allocation takes.
// Source:   PTX ISA, "Tensor Memory", "tcgen05.alloc"
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

inline constexpr int tmem_lanes = 128;
inline constexpr int tmem_columns = 512;  // of 32 bits
inline constexpr int least_tmem_columns = 32;

/// Columns to allocate for `used` of them: a power of two, 32 at least.
TW_HD constexpr int tmem_allocation(int used) {
  int columns = least_tmem_columns;
  while (columns < used) columns *= 2;
  return columns;
}

}  // namespace tw
