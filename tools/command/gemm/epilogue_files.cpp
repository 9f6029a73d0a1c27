// SPDX-License-Identifier: Apache-2.0
// epilogue_files.cpp  A bias keeps its file's type, scales are f32.
#include "tools/command/gemm/epilogue_files.hpp"

#include <fmt/format.h>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

void open_vector(std::optional<matrix_file>& to, char const* what, std::string const& address,
                 std::int64_t count, char const* extent, bool of_groups) {
  if (address.empty()) return;
  to.emplace(parse_address(address), accepted_shapes{.vectors = true, .empty = true});
  matrix_view const& v = to->view();
  bool const is_vector = v.rows == 1 || v.cols == 1 || of_groups;  // (G, N)
  if (!is_vector || v.rows * v.cols != count)
    refuse("TW0616", fmt::format("shape of {}", what), fmt::format("{}x{}", v.rows, v.cols),
           fmt::format("{} values, {}", count, extent));
}

void take(std::optional<operand>& to, matrix_view const* v, std::optional<elem> type) {
  if (v != nullptr) to.emplace(*v, type.value_or(v->type));  // doubles become f32
}

}  // namespace

epilogue_files::epilogue_files(epilogue_request const& r, std::int64_t m, std::int64_t n,
                               bool of_groups) {
  char const* const of_rows = of_groups ? "rows of all groups" : "one for each row of A B";
  char const* const of_cols = of_groups ? "columns of all groups" : "one for each column of A B";
  bool const rows = r.bias_along == along::rows;
  open_vector(bias_, "the bias", r.bias, rows ? m : n, rows ? of_rows : of_cols, of_groups);
  open_vector(row_scale_, "the row scale", r.row_scale, m, of_rows, of_groups);
  open_vector(col_scale_, "the column scale", r.col_scale, n, of_cols, of_groups);
  epilogue_.bias = bias_ ? r.bias_along : along::none;
  if (bias_) epilogue_.bias_type = bias_->view().type;
  epilogue_.row_scale = row_scale_.has_value();
  epilogue_.col_scale = col_scale_.has_value();
  epilogue_.act = r.act;
  epilogue_.gate = r.gate;
  epilogue_.c_last = !r.residual.empty();
}

epilogue_data::epilogue_data(epilogue_files const& f) {
  take(bias, f.bias(), std::nullopt);
  take(row_scale, f.row_scale(), elem::f32);
  take(col_scale, f.col_scale(), elem::f32);
}

gemm_operands epilogue_data::with(gemm_operands o) const {
  if (bias) o.bias = bias->view().data;
  if (row_scale) o.row_scale = reinterpret_cast<float const*>(row_scale->view().data);
  if (col_scale) o.col_scale = reinterpret_cast<float const*>(col_scale->view().data);
  return o;
}

}  // namespace tw
