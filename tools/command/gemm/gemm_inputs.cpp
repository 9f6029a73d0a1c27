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
bool may_be_packed(matrix_view const& m, std::int64_t k_of_other, elem type = elem::u8) {
  return m.type == type && (2 * m.rows == k_of_other || 2 * m.cols == k_of_other);
}

/// The flag that would make the inner dimensions agree, or go without the one that was given.
std::string inner_hint(gemm_request const& r, matrix_view const& a, matrix_view const& b) {
  if (a.type != b.type && (may_be_packed(b, a.cols) || may_be_packed(a, b.rows)))
    return "uint8 with half of K: two elements of e2m1 to a byte? --dtype nvfp4 or mxfp4 reads "
           "them so";
  if (a.type != b.type && may_be_packed(b, a.cols, elem::s8))
    return "int8 with half of K: two weights of 4 bits to a byte? `tilewright prepare` reads them, "
           "and writes B";
  if (a.cols == b.cols)
    return r.of.b.transpose ? "without --transpose-b if the file holds (K, N)"
                            : "--transpose-b if the file holds (N, K)";
  if (a.rows == b.rows)
    return r.of.a.transpose ? "without --transpose-a if the file holds (M, K)"
                            : "--transpose-a if the file holds (K, M)";
  return "";
}

/// The type of A or B after its file was quantised.
elem type_of_operand(gemm_request const& r, role x, matrix_view const& own,
                     matrix_view const& other) {
  if (!r.of[x].quantised_with) return own.type;
  return quantised_type(r, x == role::a ? r.dtype : r.dtype_b,
                        r.of[row_of(x).transposed].quantised_with, other.type);
}

gemm_problem problem_of_files(gemm_request const& r, matrix_view const& a, matrix_view const& b,
                              matrix_view const* c, gemm_epilogue const& epilogue,
                              std::int64_t groups, weights_desc const* weights,
                              std::vector<std::int32_t> const& gather,
                              std::vector<std::int32_t> const& scatter) {
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
  if (p.groups) put_indices(p, gather, scatter);
  std::int64_t const d_cols = result_cols(epilogue, p.n);
  if (c != nullptr)
    check_result_extents(operand_extents_of(r.epilogue.residual.empty() ? "C" : "the residual", *c),
                         p.m, d_cols);
  ab_table<elem> const own{type_of_operand(r, role::a, a, b), type_of_operand(r, role::b, b, a)};
  bool const chosen = r.format || (weights && !r.dtype);
  ab_table<elem> types = chosen ? ab_table{a.type, b.type} : operand_types(r, own.a, own.b);
  if (weights && chosen) types.a = b.type;
  for (role const x : a_and_b)
    if (r.of[x].quantised_with) types[x] = own[x];
  p.precision = r.precision;
  p.reproducible = r.reproducible;
  p.a = a.desc();
  p.b = b.desc();
  p.a.type = types.a, p.b.type = types.b;
  bool const scaled = std::ranges::any_of(
      a_and_b, [&](role x) { return r.of[x].quantised_with || !r.of[x].scale.empty(); });
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
  if (weights != nullptr) p.weights_b = weights->format, p.alpha *= weights->factor;
  p.beta = r.beta.value_or(c != nullptr ? 1.0F : 0.0F);
  if (c != nullptr && p.beta != 0.0F) p.c = c->desc();  // C times zero takes no part
  return p;
}

/// The one scale of a wide matrix that is quantised by it (--scaling-a tensor --scale-a), if given.
std::optional<float> divisor_of(gemm_request const& r, role x) {
  std::string const& text = r.of[x].scale;
  if (text.empty()) return std::nullopt;
  char const* const letter = row_of(x).word;
  scaling const kind = *r.of[x].quantised_with;
  if (kind != scaling::tensor)
    refuse("TW0615", "command line",
           fmt::format("--scale-{0} beside --scaling-{0} {1}", letter, name(kind)),
           fmt::format("--scaling-{} tensor with it", letter),
           "a scale that is given is one for the whole matrix");
  return divisor_in(text, fmt::format("scale of {} that is given", row_of(x).text));
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

void gemm_files::open_weights(gemm_request const& r) {
  factor_file& b = files_.b;
  factor_request const& of = r.of.b;
  if (!r.format) b.weights = weights_operand::of_checkpoint(of.file, r.epilogue.gate);
  if (!b.weights) {
    b.file.emplace(parse_address(of.file), operand_shapes(r));
    b.weights = weights_operand::of_file(b.file->view());
  }
  if (!b.weights) return;
  weights_desc const& w = b.weights->desc();
  if (r.format || of.quantised_with || !of.scale.empty())
    refuse("TW0467", "B of 4-bit weights", "an option for the scales or the format of B",
           "none of them: prepared weights contain their scales and format");
  if (w.matrices > 1 && !r.batch && !r.groups.any())
    refuse("TW0467", "B of 4-bit weights", fmt::format("{} matrices", w.matrices),
           "one matrix, or --batch or --groups for all of them");
}

gemm_files::gemm_files(gemm_request const& r)
    : as_stack_(r.batch || r.groups.slots || (r.groups.any() && r.groups.axis == group_axis::k)) {
  if (r.groups.any()) groups_ = read_groups(r.groups);
  files_.a.file.emplace(parse_address(r.of.a.file), operand_shapes(r));
  open_weights(r);
  for (role const x : a_and_b)
    files_[x].view = files_[x].weights
                         ? files_[x].weights->view(multiplied_type(files_[x].weights->desc().format,
                                                                   files_.a.file->view().type))
                         : as_operand(files_[x].file->view(), r.of[x].transpose, x == role::b);
  matrix_view &a = files_.a.view, &b = files_.b.view;
  std::string const& added = r.epilogue.residual.empty() ? r.c : r.epilogue.residual;
  if (!added.empty()) {
    bool const vector = a.vector || b.vector;
    c_file_.emplace(parse_address(added), accepted_shapes{as_stack_, vector, true});
    c_ = as_operand(c_file_->view(), false, b.vector && !a.vector);
  }
  if (a.cols != b.rows)
    check_inner_extents(operand_extents_of("A", a), operand_extents_of("B", b),
                        inner_hint(r, a, b));
  if (r.truncates_tf32) a = as_tf32(a, "A"), b = as_tf32(b, "B");
  std::int64_t const groups =
      r.groups.any() ? count_of_groups(r.groups, groups_, a.matrices, b.matrices) : 0;
  alphas_ = read_group_alphas(r.groups, groups);
  gather_ = read_indices(r.groups.gather), scatter_ = read_indices(r.groups.scatter);
  bool const each_row = r.groups.slots || r.groups.axis == group_axis::n;
  bool const each_col = r.groups.slots || r.groups.axis == group_axis::m;
  auto const lines = [&](std::int64_t stored, bool ragged) {
    return ragged && !gather_.empty() ? static_cast<std::int64_t>(gather_.size()) : stored;
  };
  epilogue_.emplace(r.epilogue,
                    lines(a.rows, !each_row) * (r.groups.any() && each_row ? groups : 1),
                    lines(b.cols, !each_col) * (r.groups.any() && each_col ? groups : 1),
                    r.groups.ragged_lines(), each_col ? a.rows : b.cols);
  bool const empty = a.cols == 0 || a.rows == 0 || b.cols == 0 || a.matrices == 0;
  for (role const x : a_and_b) {
    factor_request const& of = r.of[x];
    if (empty || !of.quantised_with) continue;
    elem const type = type_of_operand(r, x, files_[x].view, files_[row_of(x).transposed].view);
    files_[x].quantized.emplace(files_[x].view, x == role::b, *of.quantised_with, type,
                                divisor_of(r, x));
  }
  for (role const x : a_and_b) {
    factor_request const& of = r.of[x];
    if (empty || !r.format) continue;
    files_[x].block.emplace(
        files_[x].view, parse_address(of.file).format == file_format::npy, x == role::b, *r.format,
        block_scale_request{of.scale, of.order, of.second, of.second_is_reciprocal},
        std::max(a.matrices, b.matrices));
  }
  weights_desc const* const weights = files_.b.weights ? &files_.b.weights->desc() : nullptr;
  problem_ = problem_of_files(r, operand(role::a), operand(role::b), c(), epilogue_->epilogue(),
                              groups, weights, gather_, scatter_);
  gemm_problem& p = problem_;
  for (role const x : a_and_b) {
    if (empty || nothing_to_compute()) continue;  // there is nothing to scale
    factor_file& f = files_[x];
    if (f.block)
      scale(p, x) = f.block->desc();
    else if (f.quantized)
      scale(p, x) = f.quantized->desc();
    else
      scale(p, x) = f.scale_file.open(r.of[x].scale, r.of[x].scale_as, scaled_operand_of(p, x));
  }
  if (r.scale_d.any() && !nothing_to_compute()) {
    scale_d_.emplace(r.scale_d, p, as_stack_);
    p.scale_d = scale_d_->desc();
  }
  if (auto const why = accept(problem_); why && !nothing_to_compute()) throw rejected(*why);
  if (!problem_.groups || nothing_to_compute()) return;
  check_group_numbers(problem_, groups_);
  gemm_operands numbers;
  numbers.groups = groups_.data(), numbers.gather = gather_.data(),
  numbers.scatter = scatter_.data();
  check_indices(problem_, numbers);
}

std::vector<std::int64_t> gemm_files::array_shape(std::int64_t cols) const {
  std::vector<std::int64_t> shape;
  if (as_stack_) shape.push_back(problem_.d_matrices());
  if (!matrix(role::a).vector) shape.push_back(problem_.m);
  if (!matrix(role::b).vector) shape.push_back(cols);
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
  bytes need = copied(operand(role::a), problem_.a.type) +
               copied(operand(role::b), problem_.b.type) + d_shape().size();
  if (problem_.aux) need = need + aux_shape().size();
  if (problem_.c) need = need + copied(*c(), problem_.c->type);
  return need;
}

gemm_data::gemm_data(gemm_files& f)
    : factors_{operand(f.operand(role::a), f.problem().a.type),
               operand(f.operand(role::b), f.problem().b.type)},
      epilogue_(f.epilogue()),
      d_(f.d_shape()),
      aux_(f.aux_shape()) {
  if (f.problem().c) c_.emplace(*f.c(), f.problem().c->type);
  for (role const x : a_and_b) {
    // Scales of integers in the type of the file: only the address may need a copy.
    if (matrix_view const* const s = f.scales(x)) scales_[x].emplace(*s, type_of_scales(*s));
    second_levels_[x] = f.second_level(x);
  }
  scale_d_ = f.scale_d() ? f.scale_d()->data() : nullptr;
  d_buffer_ = host_buffer(d_.size());
  d_.data = d_buffer_.data();
  if (f.problem().groups) {  // rows of no group are not written
    std::fill_n(d_buffer_.data(), d_.size().count, std::byte{0});
    groups_ = f.groups().data();
    alphas_ = f.group_alphas().data();
    gather_ = f.gather().data(), scatter_ = f.scatter().data();
  }
  if (!f.problem().aux) return;
  aux_buffer_ = host_buffer(aux_.size());
  aux_.data = aux_buffer_.data();
}

gemm_operands gemm_data::operands() const {
  gemm_operands o = epilogue_.with({});
  o.c = c_ ? c_->view().data : nullptr;
  o.d = const_cast<std::byte*>(d_.data), o.aux = const_cast<std::byte*>(aux_.data);
  for (role const x : a_and_b) {
    set_address(o, x, factors_[x].view().data);
    if (scales_[x]) set_address(o, scales_of(x), scales_[x]->view().data);
    set_address(o, second_level_of(x), second_levels_[x]);
  }
  o.scale_d = scale_d_;
  o.groups = groups_, o.group_alpha = alphas_;
  o.gather = gather_, o.scatter = scatter_;
  return o;
}

}  // namespace tw
