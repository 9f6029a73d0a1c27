// SPDX-License-Identifier: Apache-2.0
// gemm_inputs.cpp  A is (m, k), B is (k, n), C and D are (m, n); D is row-major.
#include "tools/gemm_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/problem/accept.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

std::string extents(std::int64_t rows, std::int64_t cols) {
  return fmt::format("{}x{}", rows, cols);
}

/// Matrices in the batch: those of the stacks, which must agree.
std::int64_t batch_of(gemm_request const& r, matrix_view const& a, matrix_view const& b,
                      matrix_view const* c) {
  std::int64_t const most = std::max({a.matrices, b.matrices, c != nullptr ? c->matrices : 1});
  auto const check = [&](char const* name, matrix_view const& m) {
    if (m.matrices != 1 && m.matrices != most)
      refuse("TW0616", fmt::format("matrices in {}", name), fmt::format("{}", m.matrices),
             fmt::format("{}, as in another stack, or a single one for all", most));
  };
  check("A", a);
  check("B", b);
  if (c != nullptr) check("C", *c);
  for (std::string const& out : {r.d, r.epilogue.aux})
    if (r.batch && !out.empty() && parse_address(out).format != file_format::npy)
      refuse("TW0612", "output " + out, "a stack of matrices", "a .npy file with --batch");
  return most;
}

/// The flag that would make the inner dimensions agree, or go without the one that was given.
std::string inner_hint(gemm_request const& r, matrix_view const& a, matrix_view const& b) {
  if (a.cols == b.cols)
    return r.transpose_b ? "without --transpose-b if the file holds (K, N)"
                         : "--transpose-b if the file holds (N, K)";
  if (a.rows == b.rows)
    return r.transpose_a ? "without --transpose-a if the file holds (M, K)"
                         : "--transpose-a if the file holds (K, M)";
  return "";
}

void check_inner(gemm_request const& r, matrix_view const& a, matrix_view const& b) {
  if (a.cols != b.rows) {
    refuse("TW0616", "inner dimensions of A B",
           fmt::format("A {}, B {}", extents(a.rows, a.cols), extents(b.rows, b.cols)),
           "as many rows in B as columns in A", inner_hint(r, a, b));
  }
}

gemm_problem pose(gemm_request const& r, matrix_view const& a, matrix_view const& b,
                  matrix_view const* c, gemm_epilogue const& epilogue) {
  std::int64_t const d_cols = result_cols(epilogue, b.cols);
  if (c != nullptr && (c->rows != a.rows || c->cols != d_cols)) {
    refuse("TW0616", r.epilogue.residual.empty() ? "shape of C" : "shape of the residual",
           extents(c->rows, c->cols), extents(a.rows, d_cols) + ", the shape of D");
  }
  gemm_problem p;
  p.epilogue = epilogue;
  p.m = a.rows;
  p.n = b.cols;
  p.k = a.cols;
  p.batch = batch_of(r, a, b, c);
  elem const type = operand_type(r.dtype, a.type, b.type);
  p.a = a.desc();
  p.b = b.desc();
  p.a.type = p.b.type = type;
  p.d = {r.out_dtype.value_or(type), order::row_major, d_cols, p.batch == 1 ? 0 : p.m * d_cols};
  if (!r.epilogue.aux.empty()) {
    p.aux = p.d;
    p.aux->pitch_elems = p.n;
    p.aux->batch_stride_elems = p.batch == 1 ? 0 : p.m * p.n;
  }
  p.alpha = r.alpha;
  p.beta = r.beta.value_or(c != nullptr ? 1.0F : 0.0F);
  if (c != nullptr && p.beta != 0.0F) p.c = c->desc();  // C times zero takes no part
  if (auto const why = accept(p)) throw rejected(*why);
  return p;
}

}  // namespace

gemm_files::gemm_files(gemm_request const& r)
    : a_file_(parse_address(r.a), r.batch),
      b_file_(parse_address(r.b), r.batch),
      a_(r.transpose_a ? transposed(a_file_.view()) : a_file_.view()),
      b_(r.transpose_b ? transposed(b_file_.view()) : b_file_.view()) {
  std::string const& added = r.epilogue.residual.empty() ? r.c : r.epilogue.residual;
  if (!added.empty()) c_.emplace(parse_address(added), r.batch);
  check_inner(r, a(), b());
  epilogue_.emplace(r.epilogue, a().rows, b().cols);
  problem_ = pose(r, a(), b(), c(), epilogue_->epilogue());
}

matrix_view gemm_files::d_shape() const {
  return {problem_.d.type, problem_.d.ord, problem_.m, result_cols(problem_.epilogue, problem_.n),
          nullptr,         problem_.batch};
}

matrix_view gemm_files::aux_shape() const {
  return {problem_.d.type, problem_.d.ord, problem_.m, problem_.n, nullptr, problem_.batch};
}

bytes gemm_files::host_memory() const {
  auto const copied = [](matrix_view const& m, elem type) {
    return needs_copy(m, type) ? bytes_of(type, m.count()) : bytes{0};
  };
  bytes need = copied(a(), problem_.a.type) + copied(b(), problem_.b.type) + d_shape().size();
  if (problem_.aux) need = need + aux_shape().size();
  if (problem_.c) need = need + copied(*c(), problem_.c->type);
  return need;
}

gemm_data::gemm_data(gemm_files const& f)
    : a_(f.a(), f.problem().a.type),
      b_(f.b(), f.problem().b.type),
      epilogue_(f.epilogue()),
      d_(f.d_shape()),
      aux_(f.aux_shape()) {
  if (f.problem().c) c_.emplace(*f.c(), f.problem().c->type);
  d_buffer_ = host_buffer(d_.size());
  d_.data = d_buffer_.data();
  if (!f.problem().aux) return;
  aux_buffer_ = host_buffer(aux_.size());
  aux_.data = aux_buffer_.data();
}

gemm_operands gemm_data::operands() const {
  void* d = const_cast<std::byte*>(d_.data);
  gemm_operands o =
      epilogue_.with({a_.view().data, b_.view().data, c_ ? c_->view().data : nullptr, d});
  o.aux = const_cast<std::byte*>(aux_.data);
  return o;
}

}  // namespace tw
