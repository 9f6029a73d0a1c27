// SPDX-License-Identifier: Apache-2.0
// gemm_inputs.cpp  A is (m, k), B is (k, n), C and D are (m, n); D is row-major.
#include "tools/gemm_inputs.hpp"

#include <fmt/format.h>

#include "tilewright/problem/accept.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

std::string extents(std::int64_t rows, std::int64_t cols) {
  return fmt::format("{}x{}", rows, cols);
}

gemm_problem pose(gemm_request const& r, matrix_view const& a, matrix_view const& b,
                  matrix_view const* c) {
  if (a.cols != b.rows) {
    refuse("TW0616", "inner dimensions of A B",
           fmt::format("A {}, B {}", extents(a.rows, a.cols), extents(b.rows, b.cols)),
           "as many rows in B as columns in A");
  }
  if (c != nullptr && (c->rows != a.rows || c->cols != b.cols)) {
    refuse("TW0616", "shape of C", extents(c->rows, c->cols),
           extents(a.rows, b.cols) + ", the shape of A B");
  }
  gemm_problem p;
  p.m = a.rows;
  p.n = b.cols;
  p.k = a.cols;
  elem const type = operand_type(r.dtype, a.type, b.type);
  p.a = {type, a.ord, a.pitch_elems()};
  p.b = {type, b.ord, b.pitch_elems()};
  p.d = {r.out_dtype.value_or(type), order::row_major, p.n};
  p.alpha = r.alpha;
  p.beta = r.beta.value_or(c != nullptr ? 1.0F : 0.0F);
  if (c != nullptr && p.beta != 0.0F) p.c = c->desc();  // C times zero takes no part
  if (auto const why = accept(p)) throw rejected(*why);
  return p;
}

}  // namespace

gemm_files::gemm_files(gemm_request const& r) : a_(parse_address(r.a)), b_(parse_address(r.b)) {
  if (!r.c.empty()) c_.emplace(parse_address(r.c));
  problem_ = pose(r, a(), b(), c());
}

matrix_view gemm_files::d_shape() const {
  return {problem_.d.type, problem_.d.ord, problem_.m, problem_.n, nullptr};
}

bytes gemm_files::host_memory() const {
  auto const copied = [](matrix_view const& m, elem type) {
    return needs_copy(m, type) ? bytes_of(type, m.count()) : bytes{0};
  };
  bytes need = copied(a(), problem_.a.type) + copied(b(), problem_.b.type) + d_shape().size();
  if (problem_.c) need = need + copied(*c(), problem_.c->type);
  return need;
}

gemm_data::gemm_data(gemm_files const& f)
    : a_(f.a(), f.problem().a.type),
      b_(f.b(), f.problem().b.type),
      d_(f.d_shape()) {
  if (f.problem().c) c_.emplace(*f.c(), f.problem().c->type);
  d_buffer_ = host_buffer(d_.size());
  d_.data = d_buffer_.data();
}

gemm_operands gemm_data::operands() const {
  void* d = const_cast<std::byte*>(d_.data);
  return {a_.view().data, b_.view().data, c_ ? c_->view().data : nullptr, d};
}

}  // namespace tw
