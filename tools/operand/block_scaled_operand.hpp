// SPDX-License-Identifier: Apache-2.0
// block_scaled_operand.hpp  An operand in MXFP8, MXFP4 or NVFP4: values and scales of files, or a
//                           wide matrix of a file, or each of a stack, that is quantised.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/scale.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/memory.hpp"

namespace tw {

/// The options for the scales of an operand.
struct block_scale_request {
  std::string scale;                  // the address of a file; empty: the operand is quantised
  std::optional<factor_order> order;  // of that file, where its shape fits both
  std::string second;                 // of nvfp4: the address of a file, or a number
  bool second_is_reciprocal = false;  // it is 1 / the second level
};

/// The second level of nvfp4 that is given: a number on the command line, or a file of one number;
/// of a stack of `matrices` a file may have as many that are equal. Throws `rejected` TW0476.
float second_level_in(block_scale_request const& r, bool is_b, std::int64_t matrices);

/// A (M, K) or B (K, N). The matrices of a stack share the second level of nvfp4. Throws
/// `rejected`: TW0450, TW0451 for scales of another shape; TW0475 and TW0476 for values without
/// scales or of another type, and wide matrices with scales (of nvfp4 a second level may be given);
/// TW0455 for matrices that cannot be quantised; TW0477 for an odd K of two elements to a byte.
class block_scaled_operand {
 public:
  /// batch: matrices of the whole GEMM.
  block_scaled_operand(matrix_view const& file, bool in_npy, bool is_b, block_format format,
                       block_scale_request const& r, std::int64_t batch);

  matrix_view const& values() const { return values_; }
  matrix_view const& scales() const { return scales_; }  // in the order of memory
  scale_desc const& desc() const { return desc_; }
  /// Of nvfp4; else nullptr.
  float const* second_level() const { return desc_.second_level ? &second_ : nullptr; }
  bool quantised() const { return quantised_; }

 private:
  void quantise(matrix_view const& wide, bool is_b, block_format format,
                block_scale_request const& r);
  void read_values(matrix_view const& file, bool in_npy, bool is_b, block_format format);
  void read_scales(bool is_b, block_format format, block_scale_request const& r,
                   std::int64_t batch);

  host_buffer value_bytes_, scale_bytes_;
  std::optional<matrix_file> scale_file_;
  matrix_view values_, scales_;
  scale_desc desc_;
  float second_ = 1;
  bool quantised_ = false;
};

}  // namespace tw
