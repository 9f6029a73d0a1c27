// SPDX-License-Identifier: Apache-2.0
// result_scales.hpp  Scales of D on the command line and in files: --scale-d and its options.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/operand/memory.hpp"
#include "tools/request/result_scale_request.hpp"

namespace tw {

/// --scale-d with this help text, and how computed scales are stored. `r` must live while the
/// command line is parsed. Returns --scale-d.
CLI::Option* add_result_scale_options(CLI::App& verb, result_scale_request& r,
                                      std::string const& text);
/// --scale-d of a verb that reads and writes no scales: amax-row, amax-1x128, `given` or a
/// number.
void add_result_scale_words(CLI::App& verb, result_scale_request& r);

/// The output file of computed scales; without --scale-d-out, `d` with .scale before its suffix.
matrix_address result_scale_address(result_scale_request const& r, matrix_address const& d);
/// The output file of the second level of a D in nvfp4: --scale2-d-out, or .scale2.
matrix_address second_level_address(result_scale_request const& r, matrix_address const& d);

/// Refuses (TW0615) options of scales of D that do not go together.
void check_result_scale_options(result_scale_request const& r);

/// The scales of a D in memory: the one that is given, or room for those that are computed.
class result_scales_data {
 public:
  /// Throws `rejected`: TW0615 for a file that has not one number, TW0450 where the library has no
  /// such scaling. as_stack: files have an extent in front, the matrices of the batch.
  result_scales_data(result_scale_request const& r, gemm_problem const& p, bool as_stack);

  output_scales const& desc() const { return desc_; }
  scale_tensor const& tensor() const { return tensor_; }  // of computed ones, as in a file
  std::byte* data() { return bytes_.data(); }
  std::byte const* data() const { return bytes_.data(); }
  /// All of them, in the order of memory: one row.
  matrix_view view() const { return {type_, order::row_major, 1, count_, bytes_.data()}; }
  /// Their memory, and the second levels of nvfp4 after them, as bytes.
  matrix_view memory() const { return {elem::u8, order::row_major, 1, size_, bytes_.data()}; }
  /// Of a D in nvfp4, else nothing: a row with one of each matrix.
  std::optional<matrix_view> second_levels() const;

 private:
  output_scales desc_;
  scale_tensor tensor_{};
  elem type_ = elem::f32;
  std::int64_t count_ = 1, size_ = 0, matrices_ = 1;
  std::int64_t second_level_at_ = 0;  // 0: none
  host_buffer bytes_;
};

/// "given: 0.02", "1x128 f32 (torch BlockWise1x128, ...)": for reports.
std::string text_of(result_scales_data const& s, gemm_problem const& p);

}  // namespace tw
