// SPDX-License-Identifier: Apache-2.0
// gemm_inputs.cpp  A is (m, k), B is (k, n), C and D are (m, n); D is row-major.
#include "tools/command/gemm/gemm_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/tensors.hpp"
#include "tilewright/problem/accept.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/scale_file.hpp"

namespace tw {
namespace {

operand_extents operand_extents_of(char const* name, matrix_view const& m) {
  return {name, m.rows, m.cols, m.matrices};
}

/// A number of elements along K that is half of the other operand's, of uint8.
bool may_be_packed(matrix_view const& m, std::int64_t k_of_other) {
  return m.type == elem::u8 && (2 * m.rows == k_of_other || 2 * m.cols == k_of_other);
}

/// The flag that would make the inner dimensions agree, or go without the one that was given.
std::string inner_hint(gemm_request const& r, matrix_view const& a, matrix_view const& b) {
  if (a.type != b.type && (may_be_packed(b, a.cols) || may_be_packed(a, b.rows)))
    return "uint8 with half of K: two elements of e2m1 to a byte? --dtype nvfp4 or mxfp4 reads "
           "them so";
  if (a.cols == b.cols)
    return r.transpose_b ? "without --transpose-b if the file holds (K, N)"
                         : "--transpose-b if the file holds (N, K)";
  if (a.rows == b.rows)
    return r.transpose_a ? "without --transpose-a if the file holds (M, K)"
                         : "--transpose-a if the file holds (K, M)";
  return "";
}

gemm_problem problem_of_files(gemm_request const& r, matrix_view const& a, matrix_view const& b,
                              matrix_view const* c, gemm_epilogue const& epilogue,
                              std::int64_t groups) {
  std::int64_t const d_cols = result_cols(epilogue, b.cols);
  if (c != nullptr)
    check_result_extents(operand_extents_of(r.epilogue.residual.empty() ? "C" : "the residual", *c),
                         a.rows, d_cols);
  gemm_problem p;
  p.epilogue = epilogue;
  p.m = a.rows;
  p.n = b.cols;
  p.k = a.cols;
  if (r.groups.any())
    put_groups(p, r.groups, groups, a.matrices, b.matrices, c == nullptr ? 0 : c->matrices);
  else if (c != nullptr)
    p.batch = batch_of(
        {operand_extents_of("A", a), operand_extents_of("B", b), operand_extents_of("C", *c)});
  else
    p.batch = batch_of({operand_extents_of("A", a), operand_extents_of("B", b)});
  elem const of_a = r.scaling_a ? quantised_type(r, r.dtype, r.scaling_b, b.type) : a.type;
  elem const of_b = r.scaling_b ? quantised_type(r, r.dtype_b, r.scaling_a, a.type) : b.type;
  operand_pair types = operand_types(r, of_a, of_b);
  if (r.format) types = {a.type, b.type};
  if (r.scaling_a) types.a = of_a;
  if (r.scaling_b) types.b = of_b;
  p.precision = r.precision;
  p.reproducible = r.reproducible;
  p.a = a.desc();
  p.b = b.desc();
  p.a.type = types.a, p.b.type = types.b;
  bool const scaled = r.scaling_a || r.scaling_b || !r.scale_a.empty() || !r.scale_b.empty();
  elem const usual =
      r.format && !r.scale_d.any() ? elem::bf16 : default_d(types.a, r.scale_d.any(), scaled);
  elem const d_type =
      r.scale_d.format ? traits_of(*r.scale_d.format).value : r.out_dtype.value_or(usual);
  p.d = {d_type, order::row_major, d_cols, p.d_matrices() == 1 ? 0 : p.m * d_cols};
  if (!r.epilogue.aux.empty()) {
    p.aux = p.d;
    p.aux->pitch_elems = p.n;
    p.aux->batch_stride_elems = p.batch == 1 ? 0 : p.m * p.n;
  }
  p.alpha = r.alpha;
  p.beta = r.beta.value_or(c != nullptr ? 1.0F : 0.0F);
  if (c != nullptr && p.beta != 0.0F) p.c = c->desc();  // C times zero takes no part
  return p;
}

/// The one scale of a wide matrix that is quantised by it (--scaling-a tensor --scale-a), if given.
std::optional<float> divisor_of(std::string const& text, bool is_b, scaling kind) {
  if (text.empty()) return std::nullopt;
  char const letter = is_b ? 'b' : 'a';
  if (kind != scaling::tensor)
    refuse("TW0615", "command line",
           fmt::format("--scale-{0} beside --scaling-{0} {1}", letter, name(kind)),
           fmt::format("--scaling-{} tensor with it", letter),
           "a scale that is given is one for the whole matrix");
  return divisor_in(text, fmt::format("scale of {} that is given", is_b ? "B" : "A"));
}

/// A as (M, K) and B as (K, N): a vector is a row as A and a column as B, as in NumPy.
matrix_view as_operand(matrix_view const& m, bool transpose, bool is_b) {
  bool const turn = m.vector ? is_b : transpose;
  return turn ? transposed(m) : m;
}

/// A float32 operand whose low 13 bits the tensor core ignores.
matrix_view as_tf32(matrix_view m, char const* name) {
  if (m.doubles)
    refuse("TW0615", fmt::format("--truncate-tf32 with {}", name), "float64",
           "a file of float32, bf16 or f16", "convert it to float32, or leave the option out");
  m.type = multiplied_type(m.type);
  return m;
}

/// Shapes of the files of A and B.
accepted_shapes operand_shapes(gemm_request const& r) {
  bool const packed = r.format && packs_in_pairs(traits_of(*r.format).value);
  return {.stacks = r.batch || r.groups.any(),
          .vectors = true,
          .empty = true,
          .of_operand = true,
          .packed_e2m1 = packed};
}

}  // namespace

std::optional<scale_desc> given_scales::open(std::string const& address, scale_choice const& choice,
                                             scaled_operand const& x) {
  if (address.empty()) return std::nullopt;
  if (is_number(address)) {
    number_ = number_or_file(address, {"TW0450", x.is_b ? "scale of B" : "scale of A", "", ""});
    number_view_ = matrix_view{elem::f32, order::row_major, 1, 1};
    number_view_->data = reinterpret_cast<std::byte const*>(&number_);
    return make_scale(x, scaling::tensor);
  }
  file_.emplace(parse_address(address), scale_shapes);
  matrix_view const& v = file_->view();
  for (std::int64_t i = 0; v.doubles && i < v.count().count; ++i) {
    double s = 0;
    std::memcpy(&s, v.data + i * std::int64_t{sizeof s}, sizeof s);
    if (std::isfinite(s) && !std::isfinite(static_cast<float>(s)))
      refuse("TW0450", fmt::format("scale of {} in {}", x.is_b ? "B" : "A", address),
             fmt::format("{:g}", s), "numbers that float32 can hold");
  }
  scale_tensor t = scale_tensor_of(v);
  if (is_wide_float(t.type)) t.type = elem::f32;
  auto const found = recognise_scale(t, x, choice);
  if (auto const* why = std::get_if<rejection>(&found)) throw rejected(*why);
  return std::get<scale_desc>(found);
}

gemm_files::gemm_files(gemm_request const& r)
    : a_file_(parse_address(r.a), operand_shapes(r)),
      b_file_(parse_address(r.b), operand_shapes(r)),
      a_(as_operand(a_file_.view(), r.transpose_a, false)),
      b_(as_operand(b_file_.view(), r.transpose_b, true)),
      as_stack_(r.batch || r.groups.slots || (r.groups.any() && r.groups.axis == group_axis::k)) {
  if (r.groups.any()) groups_ = read_groups(r.groups);
  std::string const& added = r.epilogue.residual.empty() ? r.c : r.epilogue.residual;
  if (!added.empty()) {
    bool const vector = a_.vector || b_.vector;
    c_file_.emplace(parse_address(added), accepted_shapes{as_stack_, vector, true});
    c_ = as_operand(c_file_->view(), false, b_.vector && !a_.vector);
  }
  if (a_.cols != b_.rows)
    check_inner_extents(operand_extents_of("A", a_), operand_extents_of("B", b_),
                        inner_hint(r, a_, b_));
  if (r.truncates_tf32) a_ = as_tf32(a_, "A"), b_ = as_tf32(b_, "B");
  auto const groups = static_cast<std::int64_t>(groups_.size()) -
                      (r.groups.used_form() == group_form::starts ? 1 : 0);
  bool const each_row = r.groups.slots || r.groups.axis == group_axis::n;
  bool const each_col = r.groups.slots || r.groups.axis == group_axis::m;
  epilogue_.emplace(r.epilogue, a().rows * (r.groups.any() && each_row ? groups : 1),
                    b().cols * (r.groups.any() && each_col ? groups : 1), r.groups.any());
  bool const empty = a_.cols == 0 || a_.rows == 0 || b_.cols == 0 || a_.matrices == 0;
  if (r.scaling_a && !empty)
    quantized_a_.emplace(a_, false, *r.scaling_a, quantised_type(r, r.dtype, r.scaling_b, b_.type),
                         divisor_of(r.scale_a, false, *r.scaling_a));
  if (r.scaling_b && !empty)
    quantized_b_.emplace(b_, true, *r.scaling_b, quantised_type(r, r.dtype_b, r.scaling_a, a_.type),
                         divisor_of(r.scale_b, true, *r.scaling_b));
  if (r.format && !empty) {
    std::int64_t const batch = std::max(a_.matrices, b_.matrices);
    auto const is_npy = [](std::string const& x) {
      return parse_address(x).format == file_format::npy;
    };
    block_a_.emplace(
        a_, is_npy(r.a), false, *r.format,
        block_scale_request{r.scale_a, r.order_a, r.second_a, r.second_a_is_reciprocal}, batch);
    block_b_.emplace(
        b_, is_npy(r.b), true, *r.format,
        block_scale_request{r.scale_b, r.order_b, r.second_b, r.second_b_is_reciprocal}, batch);
  }
  matrix_view const& used_a = block_a_       ? block_a_->values()
                              : quantized_a_ ? quantized_a_->values()
                                             : a_;
  matrix_view const& used_b = block_b_       ? block_b_->values()
                              : quantized_b_ ? quantized_b_->values()
                                             : b_;
  problem_ = problem_of_files(r, used_a, used_b, c(), epilogue_->epilogue(),
                              static_cast<std::int64_t>(groups_.size()));
  gemm_problem& p = problem_;
  if (!empty && !nothing_to_compute()) {  // else there is nothing to scale
    if (!r.format) {
      if (!r.scaling_a)
        p.scale_a = scale_file_a_.open(r.scale_a, r.scale_a_as, {false, p.m, p.k, p.a_matrices()});
      if (!r.scaling_b)
        p.scale_b = scale_file_b_.open(r.scale_b, r.scale_b_as, {true, p.n, p.k, p.b_matrices()});
    }
    if (block_a_) p.scale_a = block_a_->desc(), p.scale_b = block_b_->desc();
    if (quantized_a_) p.scale_a = quantized_a_->desc();
    if (quantized_b_) p.scale_b = quantized_b_->desc();
  }
  if (r.scale_d.any() && !nothing_to_compute()) {
    scale_d_.emplace(r.scale_d, p, as_stack_);
    p.scale_d = scale_d_->desc();
  }
  if (auto const why = accept(problem_); why && !nothing_to_compute()) throw rejected(*why);
  if (problem_.groups && !nothing_to_compute()) check_group_numbers(problem_, groups_);
  operand_a_ = used_a, operand_b_ = used_b;
}

std::vector<std::int64_t> gemm_files::array_shape(std::int64_t cols) const {
  std::vector<std::int64_t> shape;
  if (as_stack_) shape.push_back(problem_.d_matrices());
  if (!a_.vector) shape.push_back(problem_.m);
  if (!b_.vector) shape.push_back(cols);
  return shape;
}

matrix_view gemm_files::d_shape() const {
  return {problem_.d.type, problem_.d.ord,
          problem_.m,      result_cols(problem_.epilogue, problem_.n),
          nullptr,         problem_.d_matrices()};
}

matrix_view gemm_files::aux_shape() const {
  return {problem_.d.type, problem_.d.ord, problem_.m, problem_.n, nullptr, problem_.batch};
}

bytes gemm_files::host_memory() const {
  auto const copied = [](matrix_view const& m, elem type) {
    return needs_copy(m, type) ? bytes_of(type, m.count()) : bytes{0};
  };
  bytes need = copied(operand_a(), problem_.a.type) + copied(operand_b(), problem_.b.type) +
               d_shape().size();
  if (problem_.aux) need = need + aux_shape().size();
  if (problem_.c) need = need + copied(*c(), problem_.c->type);
  return need;
}

gemm_data::gemm_data(gemm_files& f)
    : a_(f.operand_a(), f.problem().a.type),
      b_(f.operand_b(), f.problem().b.type),
      epilogue_(f.epilogue()),
      d_(f.d_shape()),
      aux_(f.aux_shape()) {
  if (f.problem().c) c_.emplace(*f.c(), f.problem().c->type);
  // Scales of integers in the type of the file: only the address may need a copy.
  if (f.scale_a() != nullptr) scale_a_.emplace(*f.scale_a(), type_of_scales(*f.scale_a()));
  second_a_ = f.second_level_a(), second_b_ = f.second_level_b();
  scale_d_ = f.scale_d() ? f.scale_d()->data() : nullptr;
  if (f.scale_b() != nullptr) scale_b_.emplace(*f.scale_b(), type_of_scales(*f.scale_b()));
  d_buffer_ = host_buffer(d_.size());
  d_.data = d_buffer_.data();
  if (f.problem().groups) {  // rows of no group are not written
    std::fill_n(d_buffer_.data(), d_.size().count, std::byte{0});
    groups_ = f.groups().data();
  }
  if (!f.problem().aux) return;
  aux_buffer_ = host_buffer(aux_.size());
  aux_.data = aux_buffer_.data();
}

gemm_operands gemm_data::operands() const {
  void* d = const_cast<std::byte*>(d_.data);
  gemm_operands o =
      epilogue_.with({a_.view().data, b_.view().data, c_ ? c_->view().data : nullptr, d});
  o.aux = const_cast<std::byte*>(aux_.data);
  if (scale_a_) o.scale_a = scale_a_->view().data;
  if (scale_b_) o.scale_b = scale_b_->view().data;
  o.scale_d = scale_d_;
  o.second_level_a = second_a_, o.second_level_b = second_b_;
  o.groups = groups_;
  return o;
}

}  // namespace tw
