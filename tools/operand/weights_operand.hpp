// SPDX-License-Identifier: Apache-2.0
// weights_operand.hpp  B as 4-bit weights: what `tilewright prepare` wrote, or a weight of a
//                      checkpoint, which is prepared first.
#pragma once

#include <optional>
#include <string>

#include "tilewright/kernel/weights/weights.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/memory.hpp"

namespace tw {

/// Weights in memory, with their header, at a multiple of 16 bytes.
class weights_operand {
 public:
  /// The weight of a checkpoint at this address: NAME.qweight, NAME.weight_packed with int32, or
  /// NAME_blocks, prepared for a GEMM with this gate. Nothing for another address. Throws
  /// `rejected`: TW0465, TW0468.
  static std::optional<weights_operand> of_checkpoint(std::string const& address, gating gate);
  /// Prepared weights that a file holds; nothing for another file. Throws `rejected`: TW0466.
  static std::optional<weights_operand> of_file(matrix_view const& file);

  weights_desc const& desc() const { return desc_; }
  /// Is it a weight of a checkpoint? Its layout; empty: it was prepared before.
  std::string const& checkpoint_layout() const { return layout_; }

  /// B as the GEMM has it, (K, N) of this type, without its elements: `data` has the header.
  matrix_view view(elem type) const;

 private:
  weights_desc desc_;
  std::string layout_;
  host_buffer copy_;
  std::byte const* data_ = nullptr;
};

/// The type that weights are multiplied in, with activations of a file of type `other`.
elem multiplied_type(weight_format const& f, elem other);

}  // namespace tw
