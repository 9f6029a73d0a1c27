// SPDX-License-Identifier: Apache-2.0
// scale_at.hpp  Where the scales of an operand lie in global memory, and their values.
#pragma once

#include <cstdint>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/operand_scales.hpp"

namespace tw {

/// Where the scale of K block 0 of index `outer` of M or N lies, in scales. Index: std::int64_t, or
/// std::uint32_t where a tensor of scales has less than 2^32 of them and registers are scarce.
template <class Index>
TW_DEVICE Index first_scale(operand_scales const& s, int outer, int matrix) {
  return static_cast<Index>(matrix * s.batch_stride +
                            std::int64_t{outer >> s.outer_log2} * s.stride_outer);
}

/// The scale of K block k, where that of block 0 is `first`.
template <class Index>
TW_DEVICE float scale_at(operand_scales const& s, Index first, int k) {
  if (s.data == nullptr) return 1.0F;
  int const group = k >> s.packed_log2;
  Index const at = first + static_cast<Index>(group * s.stride_k) +
                   static_cast<Index>(k - (group << s.packed_log2));
  if (s.ue8m0 == 0) return static_cast<words::f32 const*>(s.data)[at];
  return to_float(ue8m0{static_cast<words::b8 const*>(s.data)[at]});
}

}  // namespace tw
