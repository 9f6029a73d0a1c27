// SPDX-License-Identifier: Apache-2.0
// scale_file.cpp  Views of files as tensors with strides, and back.
#include "tools/operand/scale_file.hpp"

#include <fmt/format.h>

#include "tools/io/file_types.hpp"

namespace tw {
namespace {

std::vector<std::int64_t> extents_of(scale_tensor const& t) {
  return {t.shape.begin(), t.shape.begin() + t.rank};
}

bool first_is_contiguous(scale_tensor const& t) {
  return t.rank == 2 && t.stride[0] == 1 && t.stride[1] == t.shape[0];
}
/// first_is_contiguous(), if the order makes a difference.
bool in_fortran_order(scale_tensor const& t) {
  return first_is_contiguous(t) && t.shape[0] != 1 && t.shape[1] != 1;
}
bool is_dense(scale_tensor const& t) {
  return t.stride == dense_scales(t.type, extents_of(t)).stride || first_is_contiguous(t);
}

}  // namespace

scale_tensor scale_tensor_of(matrix_view const& file) {
  elem const type = file.type == unnamed_byte ? elem::ue8m0 : file.type;
  if (file.vector) return dense_scales(type, {file.cols});
  if (file.matrices != 1) return dense_scales(type, {file.matrices, file.rows, file.cols});
  scale_tensor t = dense_scales(type, {file.rows, file.cols});
  if (file.ord == order::col_major) t.stride = {1, file.rows, 0};
  return t;
}

std::int64_t elements_of(scale_tensor const& t) {
  std::int64_t count = 1;
  for (std::int64_t const extent : extents_of(t)) count *= extent;
  return count;
}

std::string shape_text(scale_tensor const& t) {
  std::string text = fmt::format("{} (", name(t.type));
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", t.shape[i]);
  return text + ")";
}

scale_convention scales_to_write(scaled_operand const& x, scaling kind, scale_library library,
                                 elem type) {
  make_scale(x, kind, library, type);  // refuses what the library has not
  scale_convention found{};
  for (scale_convention const& c : scale_conventions(x, type)) {
    if (c.kind != kind || c.library != library || !is_dense(c.tensor)) continue;
    found = c;
    break;
  }
  return found;
}

scale_tensor stack_of(scale_tensor const& one, std::int64_t matrices) {
  std::vector<std::int64_t> shape = extents_of(one);
  if (in_fortran_order(one)) std::swap(shape[0], shape[1]);
  shape.insert(shape.begin(), matrices);
  return dense_scales(one.type, shape);
}

result_tensor scale_result(matrix_address const& to, scale_tensor const& t,
                           std::span<std::byte const> data) {
  bool const fortran = in_fortran_order(t);
  std::vector<std::int64_t> shape = extents_of(t);
  if (to.format != file_format::safetensors) return {to, t.type, shape, data, fortran};
  if (fortran) std::swap(shape[0], shape[1]);
  return {to, t.type, shape, data};
}

}  // namespace tw
