// SPDX-License-Identifier: Apache-2.0
// epilogue_files.hpp  The vectors of a fused epilogue, from files.
#pragma once

#include <optional>

#include "tilewright/problem/operand.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/operand.hpp"
#include "tools/request/epilogue_request.hpp"

namespace tw {

/// The mapped files, compared with the problem's extents. A vector of n values is an array of one
/// dimension, or a matrix of one row or one column. Throws `rejected`: TW06xx, TW0616 for another
/// number of values. of_groups: the lines that groups divide, which have scales of `stored` rows of
/// A, or columns of B.
class epilogue_files {
 public:
  epilogue_files(epilogue_request const& r, std::int64_t m, std::int64_t n,
                 std::optional<along> of_groups = {}, std::int64_t stored = 0);

  gemm_epilogue const& epilogue() const { return epilogue_; }
  /// A vector; nullptr: none.
  matrix_view const* vector(role r) const { return files_[r] ? &files_[r]->view() : nullptr; }

 private:
  role_table<std::optional<matrix_file>> files_;
  gemm_epilogue epilogue_;
};

/// The vectors in memory, in the types that the GEMM takes.
struct epilogue_data {
  explicit epilogue_data(epilogue_files const& f);

  /// `o` with the vectors' addresses.
  gemm_operands with(gemm_operands o) const;

  role_table<std::optional<operand>> vectors;
};

}  // namespace tw
