// SPDX-License-Identifier: Apache-2.0
// weight_quantize.hpp  A matrix of bf16, f16 or f32 as symmetric int4 weights: 4 bits, and a scale
//                      for each group of elements along K.
//
//   scale   amax / 7 of the group's finite elements, rounded to bf16 or f16; 1 if amax is 0
//   q       element / scale, rounded to nearest even, -8 to 7; infinities clamped, NaN becomes 0
// A weight is q scale. Stored as in checkpoints of int8 pairs: two's complement, two in a byte, the
// element of the lower k in the low half; `read_checkpoint` takes them.
#pragma once

#include <cstdint>
#include <vector>

#include "tilewright/base/elem.hpp"

namespace tw {

struct int4_weights {
  std::int64_t n = 0, k = 0;
  int group = 128;                    // elements along K that share a scale; 0: all
  elem scale = elem::bf16;            // bf16 or f16
  std::vector<std::uint8_t> values;   // (n, k / 2)
  std::vector<std::uint16_t> scales;  // (n, k / group), bits
  std::int64_t nan = 0, infinite = 0, zero_groups = 0;

  std::int64_t groups() const { return group == 0 ? 1 : k / group; }
};

/// from: (n, k) float32 row by row. Throws `rejected` TW0465 if prepared weights cannot have the
/// extents or the group.
int4_weights quantize_to_int4(float const* from, std::int64_t n, std::int64_t k, int group,
                              elem scale);

}  // namespace tw
