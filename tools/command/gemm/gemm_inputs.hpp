// SPDX-License-Identifier: Apache-2.0
// gemm_inputs.hpp  From files to a problem: open, compare shapes, choose types, convert.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tools/command/gemm/epilogue_files.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/block_scaled_operand.hpp"
#include "tools/operand/operand.hpp"
#include "tools/operand/quantized_operand.hpp"
#include "tools/operand/weights_operand.hpp"
#include "tools/request/gemm_request.hpp"

namespace tw {

/// Scales of A or B that the command line gives: a file, or one number for all elements.
class given_scales {
 public:
  /// As the operand has them; nothing without an address. Throws `rejected`: TW0450, TW0451.
  std::optional<scale_desc> open(std::string const& address, scale_choice const& choice,
                                 scaled_operand const& x);
  matrix_view const* view() const {
    return file_ ? &file_->view() : number_view_ ? &*number_view_ : nullptr;
  }

 private:
  std::optional<matrix_file> file_;
  float number_ = 0;
  std::optional<matrix_view> number_view_;
};

/// The type that scales of a file are multiplied in: f32 for wide floats.
constexpr elem type_of_scales(matrix_view const& file) {
  return is_wide_float(file.type) ? elem::f32 : file.type;
}

/// A or B from its file: as it is, quantised, or block-scaled.
struct factor_file {
  std::optional<matrix_file> file;              // nothing: a weight of a checkpoint
  matrix_view view;                             // of what the file holds, or of its transpose
  std::optional<weights_operand> weights = {};  // 4-bit, of B
  given_scales scale_file = {};
  std::optional<quantized_operand> quantized = {};
  std::optional<block_scaled_operand> block = {};

  matrix_view const& values() const {
    return block ? block->values() : quantized ? quantized->values() : view;
  }
  matrix_view const* scales() const {
    return block ? &block->scales() : quantized ? &quantized->scales() : scale_file.view();
  }
};

/// The mapped files and their problem. Nothing large is allocated yet.
/// Throws `rejected`: TW06xx for files and for shapes that do not fit (TW0616), TW04xx by accept().
class gemm_files {
 public:
  explicit gemm_files(gemm_request const& r);
  gemm_files(gemm_files const&) = delete;
  gemm_files& operator=(gemm_files const&) = delete;

  gemm_problem const& problem() const { return problem_; }
  /// A or B as its file has it, or its transpose.
  matrix_view const& matrix(role x) const { return files_[x].view; }
  matrix_view const* c() const { return c_ ? &*c_ : nullptr; }

  /// A or B of the GEMM: the file's matrix, or what it was quantised to.
  matrix_view const& operand(role x) const { return files_[x].values(); }

  /// Has D no elements?
  bool nothing_to_compute() const { return computes_nothing(problem_); }

  /// The sizes of groups; empty: none.
  std::vector<std::int32_t> const& groups() const { return groups_; }
  /// Their alphas; empty: none.
  std::vector<float> const& group_alphas() const { return alphas_; }
  /// Numbers of the rows that are gathered, and scattered; empty: none.
  std::vector<std::int32_t> const& gather() const { return gather_; }
  std::vector<std::int32_t> const& scatter() const { return scatter_; }

  /// With --batch: arrays of results have the matrices of the batch in front.
  bool as_stack() const { return as_stack_; }

  /// Extents of the array that D (or, with the N columns of A B, the auxiliary output) becomes: of
  /// a stack three; a vector adds no extent, as in NumPy.
  std::vector<std::int64_t> d_array() const {
    return array_shape(result_cols(problem_.epilogue, problem_.n));
  }
  std::vector<std::int64_t> aux_array() const { return array_shape(problem_.n); }

  epilogue_files const& epilogue() const { return *epilogue_; }

  /// The tensor of scales of A or B; nullptr: none.
  matrix_view const* scales(role x) const { return files_[x].scales(); }
  /// Of NVFP4; nullptr: none.
  float const* second_level(role x) const {
    return files_[x].block ? files_[x].block->second_level() : nullptr;
  }
  /// B, if it is 4-bit weights.
  std::optional<weights_operand> const& weights() const { return files_.b.weights; }
  /// Was a wide matrix quantised?
  bool quantised(role x) const {
    return files_[x].quantized || (files_[x].block && files_[x].block->quantised());
  }

  /// The scales of D, if it has any.
  std::optional<result_scales_data> const& scale_d() const { return scale_d_; }
  std::optional<result_scales_data>& scale_d() { return scale_d_; }

  /// D without its data, and the auxiliary output.
  matrix_view d_shape() const;
  matrix_view aux_shape() const;

  /// Host memory for converted copies and D.
  bytes host_memory() const;

 private:
  std::vector<std::int64_t> array_shape(std::int64_t cols) const;

  /// Reads B as weights, if it is 4-bit weights.
  void open_weights(gemm_request const& r);

  ab_table<factor_file> files_;
  bool as_stack_;
  std::optional<matrix_file> c_file_;
  std::optional<matrix_view> c_;
  std::optional<epilogue_files> epilogue_;
  std::optional<result_scales_data> scale_d_;
  std::vector<std::int32_t> groups_;
  std::vector<float> alphas_;
  std::vector<std::int32_t> gather_, scatter_;
  gemm_problem problem_;
};

/// The operands in memory, ready for the GEMM, and memory for D.
class gemm_data {
 public:
  explicit gemm_data(gemm_files& f);

  gemm_operands operands() const;
  matrix_view const& d() const { return d_; }
  matrix_view const& aux() const { return aux_; }

 private:
  ab_table<operand> factors_;
  std::optional<operand> c_;
  ab_table<std::optional<operand>> scales_;
  ab_table<float const*> second_levels_;
  epilogue_data epilogue_;
  std::byte* scale_d_ = nullptr;
  std::int32_t const* groups_ = nullptr;
  float const* alphas_ = nullptr;
  std::int32_t const *gather_ = nullptr, *scatter_ = nullptr;
  host_buffer d_buffer_, aux_buffer_;  // no bytes if there is no auxiliary output
  matrix_view d_, aux_;
};

}  // namespace tw
