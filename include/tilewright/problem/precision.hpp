// SPDX-License-Identifier: Apache-2.0
// precision.hpp  How exactly a GEMM keeps its sums over K: the caller's choices.
#pragma once

#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {

/// Choices that apply to other operand types than those of a problem have no effect.
struct gemm_precision {
  /// e4m3 and e5m2: elements of K after which a tensor core's sum is added to a float32 sum in
  /// registers: 128 or 64; 0: never ("fast"). A Hopper tensor core keeps 13 fraction bits of a sum
  /// of 8-bit floats (problem/error_bound.hpp).
  int promote_k = 128;
  bool f16_sums = false;       // f16: the tensor core may keep the sums in f16
  bool wrapping_sums = false;  // s8 and u8: sums may wrap around, modulo 2^32

  bool operator==(gemm_precision const&) const = default;
};

}  // namespace tw
