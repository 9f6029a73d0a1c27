// SPDX-License-Identifier: Apache-2.0
// tensor_groups.cpp  Tensors of groups: their sizes, factors and numbers of rows; prepared 4-bit
//                    weights, of which each group has a matrix.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <tuple>

#include "dispatch/tensors/read_tensor.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/group_slices.hpp"

namespace tw {
namespace {

/// Does the tensor have these extents?
bool has_shape(tensor_argument const& t, std::initializer_list<std::int64_t> shape) {
  return std::ranges::equal(std::span(t.shape, static_cast<std::size_t>(t.rank)), shape);
}

void check_dense(tensor_argument const& t, char const* argument) {
  std::int64_t dense = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    if (t.shape[i] > 1 && stride_of(t, i) != dense)
      refuse_argument("TW0482", fmt::format("strides of {}", argument),
                      list_text(t.strides, t.rank), "C order", "copy it first");
    dense *= t.shape[i];
  }
}

/// A vector, or of slots a matrix, without gaps. `values`: the needed shape in words.
void check_values(tensor_argument const& t, char const* argument, elem type,
                  std::initializer_list<std::int64_t> shape, std::string const& values) {
  if (!has_shape(t, shape))
    refuse_argument("TW0616", fmt::format("shape of {}", argument), list_text(t.shape, t.rank),
                    values);
  if (t.type != type_in_tensors(type))
    refuse_argument("TW0483", fmt::format("type of {}", argument), type_name(t.type),
                    type == elem::f32 ? "float32" : "int32", "convert it");
  check_dense(t, argument);
}

group_form form_of_word(std::string_view word, bool slots) {
  if (word.empty()) return slots ? group_form::counts : group_form::ends;
  std::string words;
  for (int i = 0; i <= static_cast<int>(group_form::rows); ++i) {
    auto const form = static_cast<group_form>(i);
    if ((form == group_form::counts) != slots) continue;
    if (word == group_form_names[i]) return form;
    words += (words.empty() ? "" : ", ") + std::string(group_form_names[i]);
  }
  refuse_argument("TW0486", "groups_as", std::string(word), words,
                  slots ? "a and b have a matrix for each group: slots"
                        : "counts are of slots: a and b have a matrix for each group");
}

/// The extent that the groups divide: by the dimensions of A and B, of slots as the word says.
group_axis axis_of_groups(std::string_view word, bool a_each, bool b_each) {
  group_axis const found = a_each ? group_axis::n : b_each ? group_axis::m : group_axis::k;
  if (a_each && b_each) {
    if (word.empty() || word == "m") return group_axis::m;
    if (word == "n") return group_axis::n;
    refuse_argument("TW0486", "group_axis", std::string(word), "m or n, of slots");
  }
  char const* const name = group_axis_names[static_cast<int>(found)];
  if (!word.empty() && word != name)
    refuse_argument("TW0486", "group_axis", std::string(word),
                    fmt::format("{}, or not given: a has {} dimensions and b {}", name,
                                a_each ? 3 : 2, b_each ? 3 : 2));
  return found;
}

/// How many groups there are, by their numbers: of the form `rows` by the matrices of A or B.
std::int64_t count_of_groups(group_desc const& d, std::int64_t numbers, std::int64_t a_matrices,
                             std::int64_t b_matrices) {
  if (d.form == group_form::rows) return d.axis == group_axis::n ? a_matrices : b_matrices;
  return d.form == group_form::starts ? numbers - 1 : numbers;
}

}  // namespace

void read_bias_of_groups(tensor_argument const& t, gemm_problem& p) {
  std::int64_t const m = p.m, n = p.n, g = p.groups->count;
  bool const col_each = p.cols_of_each_group(), row_each = p.rows_of_each_group();
  bool const cols = col_each ? has_shape(t, {g, n}) || has_shape(t, {g, 1, n})
                             : has_shape(t, {n}) || has_shape(t, {1, n});
  bool const rows = row_each ? has_shape(t, {g, m, 1}) : has_shape(t, {m, 1});
  if (!cols && !rows)
    refuse_argument(
        "TW0616", "shape of bias", list_text(t.shape, t.rank),
        fmt::format("{} along the columns, or {} along the rows",
                    col_each ? fmt::format("({}, {})", g, n) : fmt::format("({},)", n),
                    row_each ? fmt::format("({}, {}, 1)", g, m) : fmt::format("({}, 1)", m)));
  check_dense(t, "bias");
  p.epilogue.bias = {cols ? along::cols : along::rows, element_type(t.type, "bias")};
}

void read_groups(gemm_arguments const& g, tensor_matrix const& a, tensor_matrix const& b,
                 gemm_problem& p) {
  tensor_argument const& t = *g.groups;
  bool const a_each = g.a->rank == 3, b_each = g.b->rank == 3 || g.weights_b != nullptr;
  bool const slots = a_each && b_each;
  group_desc d;
  d.axis = axis_of_groups(g.group_axis, a_each, b_each);
  d.form = form_of_word(g.groups_as, slots);
  d.expected_size = g.expected_group_size;
  d.index_bits = t.type.bits;
  std::string const sizes =
      g.groups_as.empty() ? "groups" : fmt::format("groups ({})", g.groups_as);
  if (t.type.code != 0 || t.type.lanes != 1 || (d.index_bits != 32 && d.index_bits != 64))
    refuse_argument("TW0483", "type of " + sizes, type_name(t.type), "int32 or int64",
                    "convert it");
  bool const starts = d.form == group_form::starts;
  if (t.rank != 1 || t.shape[0] < (starts ? 1 : 0))
    refuse_argument("TW0616", "shape of " + sizes, list_text(t.shape, t.rank),
                    starts ? "(G + 1,): the starts, and the end of the last group"
                           : "(G,): a number for each group");
  check_dense(t, sizes.c_str());
  d.count = count_of_groups(d, t.shape[0], a.matrices, b.matrices);
  for (auto const& [name, each, matrices] :
       {std::tuple{"a", a_each, a.matrices}, std::tuple{"b", b_each, b.matrices}})
    if (each && matrices != d.count)
      refuse_argument("TW0616", fmt::format("matrices in {}", name), fmt::format("{}", matrices),
                      fmt::format("{}, one for each group", d.count));
  d.alpha = g.group_alpha != nullptr;
  if (d.alpha)
    check_values(*g.group_alpha, "group_alpha", elem::f32, {d.count},
                 fmt::format("({},): a value for each group", d.count));
  p.groups = d;
  std::int64_t& ragged = ragged_extent(p, d.axis);
  if (g.gather != nullptr) {
    p.groups->gather_from = ragged;
    p.groups->choices = g.gather_choices;
    ragged = g.gather->rank == 1 ? g.gather->shape[0] : 0;
    check_values(*g.gather, "gather", elem::s32, {ragged},
                 "one dimension: a number for each row that groups divide");
    if (p.groups->gather_from == 0 && ragged != 0)
      refuse_argument("TW0616", fmt::format("shape of {}", d.axis == group_axis::n ? "b" : "a"),
                      "no rows", "rows, which gather names");
  } else if (g.gather_choices != 1) {
    refuse_argument("TW0484", "gather", "NULL", "a tensor, for gather_choices");
  }
  if (g.scatter != nullptr)
    check_values(*g.scatter, "scatter", elem::s32, {ragged},
                 fmt::format("({},): a number for each row that groups divide", ragged));
  if (d.form == group_form::rows && t.shape[0] != ragged)
    refuse_argument("TW0616", "shape of " + sizes, list_text(t.shape, t.rank),
                    fmt::format("({},): the group of each row", ragged));
}

void read_scatter(tensor_matrix const& d, char const* name, gemm_problem& p) {
  group_desc& g = *p.groups;
  std::int64_t const lines = g.axis == group_axis::n ? d.cols : d.rows;
  if (lines == 0 && ragged_extent(p) != 0)
    refuse_argument("TW0616", fmt::format("shape of {}", name),
                    fmt::format("({}, {})", d.rows, d.cols), "rows, which scatter names");
  g.scatter_to = lines;
}

void read_row_weight(tensor_argument const& t, gemm_problem& p) {
  bool const of_cols = p.groups && p.groups->axis == group_axis::n;
  std::int64_t const lines = of_cols ? p.d_cols() : p.d_rows();
  if (p.groups && p.groups->slots())
    check_values(
        t, "row_weight", elem::f32, {p.groups->count, lines},
        fmt::format("({}, {}): a value for each row of each slot", p.groups->count, lines));
  else
    check_values(t, "row_weight", elem::f32, {lines},
                 fmt::format("({},): a value for each row of d that groups divide", lines));
  p.epilogue.row_weight = {of_cols ? along::cols : along::rows, elem::f32};
}

std::uint32_t* status_word(gemm_arguments const& g, tensor_place at) {
  tensor_argument const& t = *g.group_status;
  if (g.groups == nullptr)
    refuse_argument("TW0484", "group_status", "given", "not given: there are no groups");
  check_place(t, "group_status", at);
  std::int64_t count = 1;
  for (int i = 0; i < t.rank; ++i) count *= t.shape[i];
  if (count != 1 || t.type.code > 1 || t.type.bits != 32 || t.type.lanes != 1)
    refuse_argument("TW0483", "type of group_status",
                    fmt::format("{} {}", type_name(t.type), list_text(t.shape, t.rank)),
                    "one uint32 or int32");
  return static_cast<std::uint32_t*>(const_cast<void*>(t.data));
}

tensor_matrix read_weights(gemm_arguments const& g, elem multiplied, gemm_problem& p) {
  tensor_argument const& t = *g.b;
  if (t.rank != 1 || element_type(t.type, "b") != elem::u8)
    refuse_argument("TW0616", "shape of b",
                    fmt::format("{} {}", type_name(t.type), list_text(t.shape, t.rank)),
                    "uint8 (bytes,): prepared weights");
  check_dense(t, "b");
  auto const* const header = static_cast<std::byte const*>(g.weights_b);
  weights_desc const w = read_weights_header({header, weights_header_bytes}, t.shape[0]);
  p.weights_b = w.format;
  p.alpha *= w.factor;
  matrix_desc const of_one{multiplied, order::col_major, w.k};
  matrix_desc of_all = of_one;
  of_all.batch_stride_elems = w.matrices > 1 || g.groups != nullptr ? w.n * w.k : 0;
  return {of_all, w.k, w.n, w.matrices};
}

}  // namespace tw
