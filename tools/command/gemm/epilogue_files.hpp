// SPDX-License-Identifier: Apache-2.0
// epilogue_files.hpp  The vectors of a fused epilogue, from files.
#pragma once

#include <optional>

#include "tilewright/problem/gemm.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/operand.hpp"
#include "tools/request/epilogue_request.hpp"

namespace tw {

/// The mapped files, compared with the problem's extents. A vector of n values is an array of one
/// dimension, or a matrix of one row or one column. Throws `rejected`: TW06xx, TW0616 for another
/// number of values.
class epilogue_files {
 public:
  epilogue_files(epilogue_request const& r, std::int64_t m, std::int64_t n, bool of_groups = false);

  gemm_epilogue const& epilogue() const { return epilogue_; }
  matrix_view const* bias() const { return view(bias_); }
  matrix_view const* row_scale() const { return view(row_scale_); }
  matrix_view const* col_scale() const { return view(col_scale_); }

 private:
  static matrix_view const* view(std::optional<matrix_file> const& f) {
    return f ? &f->view() : nullptr;
  }
  std::optional<matrix_file> bias_, row_scale_, col_scale_;
  gemm_epilogue epilogue_;
};

/// The vectors in memory, in the types that the GEMM takes.
struct epilogue_data {
  explicit epilogue_data(epilogue_files const& f);

  /// `o` with the vectors' addresses.
  gemm_operands with(gemm_operands o) const;

  std::optional<operand> bias, row_scale, col_scale;
};

}  // namespace tw
