// SPDX-License-Identifier: Apache-2.0
// epilogue_files.cpp  A bias keeps its file's type, scales are f32.
#include "tools/command/gemm/epilogue_files.hpp"

#include <fmt/format.h>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

void open_vector(std::optional<matrix_file>& to, char const* what, std::string const& address,
                 std::int64_t count, char const* extent, bool of_groups) {
  to.emplace(parse_address(address), accepted_shapes{.vectors = true, .empty = true});
  matrix_view const& v = to->view();
  bool const is_vector = v.rows == 1 || v.cols == 1 || of_groups;  // (G, N)
  if (!is_vector || v.rows * v.cols != count)
    refuse("TW0616", fmt::format("shape of {}", what), fmt::format("{}x{}", v.rows, v.cols),
           fmt::format("{} values, {}", count, extent));
}

}  // namespace

epilogue_files::epilogue_files(epilogue_request const& r, std::int64_t m, std::int64_t n,
                               std::optional<along> of_groups, std::int64_t stored) {
  char const* const of_rows = of_groups ? "rows of all groups" : "one for each row of A B";
  char const* const of_cols = of_groups ? "columns of all groups" : "one for each column of A B";
  for (operand_row const& x : operand_rows) {
    if (x.vector == nullptr || r.vectors[x.is].empty()) continue;
    along const over = x.is == role::bias ? r.bias_along
                       : x.of_groups      ? of_groups.value_or(x.over_lines)
                                          : x.over_lines;
    bool const rows = over == along::rows;
    bool const scales = x.is == role::row_scale || x.is == role::col_scale;
    std::int64_t const lines = scales && of_groups == over ? stored : rows ? m : n;
    open_vector(files_[x.is], x.text, r.vectors[x.is], lines, rows ? of_rows : of_cols,
                of_groups.has_value());
    epilogue_.*x.vector = {over, x.own_type ? files_[x.is]->view().type : elem::f32};
  }
  epilogue_.act = r.act;
  epilogue_.gate = r.gate;
  epilogue_.c_last = !r.residual.empty();
}

epilogue_data::epilogue_data(epilogue_files const& f) {
  for (operand_row const& x : operand_rows)
    if (matrix_view const* const v = f.vector(x.is))
      vectors[x.is].emplace(*v, x.own_type ? v->type : elem::f32);  // doubles become f32
}

gemm_operands epilogue_data::with(gemm_operands o) const {
  for (operand_row const& x : operand_rows)
    if (auto const& v = vectors[x.is]) set_address(o, x.is, v->view().data);
  return o;
}

}  // namespace tw
