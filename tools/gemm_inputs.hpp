// SPDX-License-Identifier: Apache-2.0
// gemm_inputs.hpp  From files to a problem: open, compare shapes, choose types, convert.
#pragma once

#include <optional>

#include "tilewright/problem/gemm.hpp"
#include "tools/epilogue_files.hpp"
#include "tools/gemm_request.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand.hpp"

namespace tw {

/// The mapped files and the problem they pose. Nothing large is allocated yet.
/// Throws `rejected`: TW06xx for files and for shapes that do not fit (TW0616), TW04xx by accept().
class gemm_files {
 public:
  explicit gemm_files(gemm_request const& r);

  gemm_problem const& problem() const { return problem_; }
  matrix_view const& a() const { return a_; }
  matrix_view const& b() const { return b_; }
  matrix_view const* c() const { return c_ ? &c_->view() : nullptr; }

  epilogue_files const& epilogue() const { return *epilogue_; }

  /// D without its data, and the auxiliary output.
  matrix_view d_shape() const;
  matrix_view aux_shape() const;

  /// Host memory for converted copies and D.
  bytes host_memory() const;

 private:
  matrix_file a_file_, b_file_;
  matrix_view a_, b_;  // of what they hold, or of its transpose
  std::optional<matrix_file> c_;
  std::optional<epilogue_files> epilogue_;
  gemm_problem problem_;
};

/// The operands in memory, ready for the GEMM, and memory for D.
class gemm_data {
 public:
  explicit gemm_data(gemm_files const& f);

  gemm_operands operands() const;
  operand const& a() const { return a_; }
  operand const& b() const { return b_; }
  std::optional<operand> const& c() const { return c_; }
  epilogue_data const& epilogue() const { return epilogue_; }
  matrix_view const& d() const { return d_; }
  std::byte* d_data() { return d_buffer_.data(); }
  matrix_view const& aux() const { return aux_; }
  std::byte* aux_data() { return aux_buffer_.data(); }

 private:
  operand a_, b_;
  std::optional<operand> c_;
  epilogue_data epilogue_;
  host_buffer d_buffer_, aux_buffer_;  // no bytes where there is no auxiliary output
  matrix_view d_, aux_;
};

}  // namespace tw
