// SPDX-License-Identifier: Apache-2.0
// quantized_operand.hpp  A wide matrix of a file, or each of a stack, in 8 bits, contiguous along
//                        K, and its scales.
#pragma once

#include <optional>

#include "tilewright/problem/scale.hpp"
#include "tools/io/matrix_view.hpp"
#include "tools/operand/memory.hpp"

namespace tw {

/// A (M, K) or B (K, N) as `to`, with float32 scales in torch's order; those of the matrices of a
/// stack follow each other. Throws `rejected` TW0452 for a matrix or a type that cannot be
/// quantised.
class quantized_operand {
 public:
  /// given: the scale of a tensor that elements are divided by; not computed from them.
  quantized_operand(matrix_view const& wide, bool is_b, scaling kind, elem to,
                    std::optional<float> given = std::nullopt);

  matrix_view const& values() const { return values_; }
  matrix_view const& scales() const { return scales_; }  // in the order of memory
  scale_desc const& desc() const { return desc_; }

 private:
  host_buffer value_bytes_, scale_bytes_;
  matrix_view values_, scales_;
  scale_desc desc_;
};

}  // namespace tw
