// SPDX-License-Identifier: Apache-2.0
// tensors.cpp  Arguments to a problem and operands, one argument after the other.
#include "tilewright/dispatch/tensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "dispatch/tensors/read_tensor.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"

namespace tw {
namespace {

std::string text_of_place(tensor_place p) {
  if (p.is_host()) return "host memory";
  if (p.kind == 2 || p.kind == 13) return fmt::format("CUDA device {}", p.index);
  return fmt::format("DLPack device {}, {}", p.kind, p.index);
}

}  // namespace

void check_place(tensor_argument const& t, char const* argument, tensor_place at) {
  tensor_place const p = t.place;
  bool const same =
      at.is_host() ? p.is_host() : (p.kind == 2 || p.kind == 13) && p.index == at.index;
  if (!same)
    refuse_argument("TW0485", fmt::format("device of {}", argument), text_of_place(p),
                    fmt::format("{}, as a", text_of_place(at)),
                    "move it there: nothing is copied between devices");
}

namespace {

/// All tensors lie in the memory of one device, which can multiply.
tensor_place place_of(gemm_arguments const& g) {
  tensor_place const at = g.a->place;
  if (!at.is_host() && at.kind != 2 && at.kind != 13)
    refuse_argument("TW0485", "device of a", text_of_place(at), "host memory or a CUDA device");
  for (argument_row const& x : argument_rows)
    if (g.*x.tensor != nullptr) check_place(*(g.*x.tensor), row_of(x.is).word, at);
  return at;
}

/// The activation of a name. "_" and "-" are equal, "swish" is "silu" and "gelu-tanh" is "gelu". If
/// `gated`, names of gated units are accepted too: "swiglu" is "silu".
activation activation_of_word(std::string_view word, bool gated) {
  if (word.empty()) return activation::none;
  std::string plain(word);
  std::ranges::replace(plain, '_', '-');
  if (plain == "swish") plain = "silu";
  if (plain == "gelu-tanh") plain = "gelu";
  for (activation_names const& a : all_activations)
    if (gated ? plain == a.word || plain == a.gated_word : plain == a.word && !is_gate_only(a.id))
      return a.id;
  std::string words;
  bool unit = false;
  for (activation_names const& a : all_activations) {
    unit = unit || plain == a.gated_word || plain == a.word;
    if (gated || !is_gate_only(a.id))
      words += (words.empty() ? "" : ", ") + std::string(gated ? a.gated_word : a.word);
  }
  refuse_argument("TW0486", "activation", std::string(word), words,
                  unit ? "a gated unit has a gate too: gate = split or interleaved" : "");
}

gating gating_of_word(std::string_view word) {
  if (word.empty() || word == "none") return gating::none;
  if (word == "split") return gating::split;
  if (word == "interleaved") return gating::interleaved;
  refuse_argument("TW0486", "gate", std::string(word), "split or interleaved",
                  "the halves of the columns, or each pair of columns; activation = silu makes a "
                  "gate SwiGLU");
}

/// A bias of N values lies along the columns, one of (m, 1) along the rows.
void read_bias(tensor_argument const& t, gemm_problem& p) {
  if (p.groups) return read_bias_of_groups(t, p);
  std::int64_t const m = p.m, n = p.n;
  bool const along_cols =
      (t.rank == 1 && t.shape[0] == n) || (t.rank == 2 && t.shape[0] == 1 && t.shape[1] == n);
  bool const along_rows = t.rank == 2 && t.shape[1] == 1 && t.shape[0] == m && !along_cols;
  if (!along_cols && !along_rows)
    refuse_argument("TW0616", "shape of bias", list_text(t.shape, t.rank),
                    fmt::format("({},) along the columns, or ({}, 1) along the rows", n, m));
  int const at = along_rows ? t.rank - 2 : t.rank - 1;
  if (t.shape[at] > 1 && stride_of(t, at) != 1)
    refuse_argument("TW0482", "strides of bias", list_text(t.strides, t.rank), "1",
                    "copy it first");
  p.epilogue.bias = {along_rows ? along::rows : along::cols, element_type(t.type, "bias")};
}

void check_second_level(tensor_argument const* t, char const* argument,
                        std::optional<block_format> format) {
  if (t == nullptr) return;
  if (format != block_format::nvfp4)
    refuse_argument("TW0484", argument, "given", "not given: only nvfp4 has a second level");
  std::int64_t count = 1;
  for (int i = 0; i < t->rank; ++i) count *= t->shape[i];
  if (count != 1)
    refuse_argument("TW0616", fmt::format("shape of {}", argument), list_text(t->shape, t->rank),
                    "one float32");
  if (element_type(t->type, argument) != elem::f32)
    refuse_argument("TW0483", fmt::format("type of {}", argument), type_name(t->type), "float32");
}

operand_extents named_extents(char const* name, tensor_matrix const& m) {
  return {name, m.rows, m.cols, m.matrices};
}

/// Arguments of groups alone are not given.
void check_no_groups(gemm_arguments const& g) {
  if (!g.groups_as.empty() || !g.group_axis.empty())
    refuse_argument("TW0484", "groups", "NULL", "a tensor, for groups_as and group_axis");
  for (argument_row const& x : argument_rows)
    if (row_of(x.is).of_groups && g.*x.tensor != nullptr)
      refuse_argument("TW0484", "groups", "NULL",
                      fmt::format("a tensor, for {}", row_of(x.is).word));
}

/// The extents of a result, and one matrix for each of the batch, or for each group.
void check_result(char const* name, tensor_matrix const& x, gemm_problem const& p,
                  std::int64_t cols) {
  check_result_extents(named_extents(name, x), p.d_rows(), cols);
  if (x.matrices == p.d_matrices()) return;
  refuse_argument(
      "TW0616", fmt::format("matrices in {}", name), fmt::format("{}", x.matrices),
      fmt::format("{}, one for each {}", p.d_matrices(), p.groups ? "group" : "of the batch"));
}

/// A, B, the epilogue's words and C: all that D's shape depends on.
struct operands_reader {
  gemm_problem problem;
  std::optional<block_format> format;
  tensor_matrix c;

  explicit operands_reader(gemm_arguments const& g) {
    if (g.a == nullptr || g.b == nullptr)
      refuse_argument("TW0484", g.a == nullptr ? "a" : "b", "NULL", "a tensor");
    gemm_problem& p = problem;
    bool const pairs = g.format == "mxfp4" || g.format == "nvfp4";
    tensor_matrix const a = matrix_of_tensor(*g.a, "a", packed_along::cols, pairs);
    p.alpha = g.alpha;
    tensor_matrix const b = g.weights_b != nullptr
                                ? read_weights(g, a.desc.type, p)
                                : matrix_of_tensor(*g.b, "b", packed_along::rows, pairs);
    if (g.c != nullptr) c = matrix_of_tensor(*g.c, "c", packed_along::cols);
    check_inner_extents(named_extents("a", a), named_extents("b", b),
                        a.cols == b.cols ? "a b^T? pass b as its transpose, which is a view" : "");
    p.m = a.rows, p.n = b.cols, p.k = a.cols;
    p.a = a.desc, p.b = b.desc;
    if (g.groups != nullptr)
      read_groups(g, a, b, p);
    else
      check_no_groups(g);
    p.batch = p.groups ? (p.groups->slots() ? p.groups->count : 1)
              : g.c != nullptr
                  ? batch_of({named_extents("a", a), named_extents("b", b), named_extents("c", c)})
                  : batch_of({named_extents("a", a), named_extents("b", b)});
    p.precision = g.precision;
    p.reproducible = g.reproducible;
    p.epilogue.gate = gating_of_word(g.gate);
    p.epilogue.act = activation_of_word(g.activation, p.epilogue.gate != gating::none);
    if (g.bias != nullptr) read_bias(*g.bias, p);
    p.beta = g.beta.value_or(g.c != nullptr ? 1.0F : 0.0F);
    if (g.c != nullptr) {
      if (g.scatter != nullptr) read_scatter(c, "c", p);  // C has the rows of D
      if (p.groups)
        check_result("c", c, p, result_cols(p.epilogue, p.d_cols()));
      else
        check_result_extents(named_extents("c", c), p.m, result_cols(p.epilogue, p.n));
      p.epilogue.c_last = p.beta != 0.0F && (g.c_last || p.epilogue.gate != gating::none);
      if (p.beta != 0.0F) p.c = c.desc;  // C times zero takes no part
    }
    if (p.m == 0 || p.n == 0 || p.k == 0 || p.batch == 0) {  // there is nothing to scale
      if (packs_in_pairs(p.a.type) && packs_in_pairs(p.b.type))
        p.a.type = p.b.type = elem::bf16;  // which are not read
      return;
    }
    format = format_of_arguments(g, p);
    for (role const x : a_and_b)
      if (tensor_of_role(g, scales_of(x)) != nullptr) scale(p, x) = read_scale(g, p, x, format);
  }
};

}  // namespace

tensor_gemm gemm_of_tensors(gemm_arguments const& g) {
  operands_reader const read(g);
  if (g.d == nullptr) refuse_argument("TW0484", "d", "NULL", "a tensor for the result");
  tensor_gemm out{read.problem, {}, place_of(g)};
  gemm_problem& p = out.problem;
  bool const pairs = g.scale_d_as.starts_with("mxfp4") || g.scale_d_as.starts_with("nvfp4");
  tensor_matrix const d = matrix_of_tensor(*g.d, "d", packed_along::cols, pairs);
  std::int64_t const c_lines = g.scatter != nullptr && g.c != nullptr ? p.groups->scatter_to : 0;
  if (g.scatter != nullptr) read_scatter(d, "d", p);
  std::int64_t const cols = result_cols(p.epilogue, p.d_cols());
  check_result("d", d, p, cols);
  if (c_lines != 0 && c_lines != p.groups->scatter_to) check_result("c", read.c, p, cols);
  p.d = d.desc;
  if (g.row_weight != nullptr) read_row_weight(*g.row_weight, p);
  if (g.aux != nullptr) {
    tensor_matrix const aux = matrix_of_tensor(*g.aux, "aux", packed_along::cols);
    check_result("aux", aux, p, p.n);
    p.aux = aux.desc;
  }
  if (g.scale_d == nullptr && !g.scale_d_as.empty())
    refuse_argument("TW0484", "scale_d", "NULL",
                    fmt::format("a tensor, for scale_d_as = {}", g.scale_d_as));
  if (g.scale_d != nullptr && p.m != 0 && cols != 0 && p.batch != 0)
    p.scale_d = read_result_scale(g, p);
  for (role const x : a_and_b) {
    role const second = second_level_of(x);
    check_second_level(tensor_of_role(g, second), row_of(second).word, read.format);
  }
  for (argument_row const& x : argument_rows)
    if (g.*x.tensor != nullptr) set_address(out.operands, x.is, (g.*x.tensor)->data);
  if (g.group_status != nullptr) out.operands.group_status = status_word(g, out.place);
  return out;
}

tensor_result result_of_tensors(gemm_arguments const& g) {
  operands_reader const read(g);
  tensor_result r{read.problem};
  gemm_problem const& p = r.problem;
  result_scale_word const w = parse_result_scale(g.scale_d_as);
  bool const scaled_d = w.kind || w.format || g.scale_d != nullptr;
  elem const type = w.format      ? traits_of(*w.format).value
                    : scaled_d    ? (is_8_bit_integer(p.a.type) ? elem::s8 : elem::e4m3)
                    : read.format ? elem::bf16
                    : has_scales(p) && is_8_bit_integer(p.a.type) ? elem::bf16
                                                                  : usual_result(p.a.type);
  r.type = type_in_tensors(type);
  bool const stacks = p.groups ? p.groups->slots() || p.groups->axis == group_axis::k
                               : g.a->rank == 3 || g.b->rank == 3 ||
                                     (g.c != nullptr && g.c->rank == 3) ||
                                     (p.weights_b && p.b.batch_stride_elems != 0);
  r.rank = stacks ? 3 : 2;
  std::int64_t const cols = result_cols(p.epilogue, p.d_cols());
  std::int64_t* at = r.shape;
  if (stacks) *at++ = p.d_matrices();
  at[0] = p.d_rows(), at[1] = packs_in_pairs(type) ? (cols + 1) / 2 : cols;
  if (!w.kind && !w.format) return r;
  scale_tensor const one = dense_result_scales(w, p);
  r.scale_type = type_in_tensors(one.type);
  bool const in_front = stacks && !w.format;
  r.scale_rank = one.rank + (in_front ? 1 : 0);
  std::int64_t extent = 1;  // elements of one matrix
  for (std::size_t i = 0; i < static_cast<std::size_t>(one.rank); ++i)
    extent += (one.shape[i] - 1) * one.stride[i];
  std::int64_t *shape = r.scale_shape, *stride = r.scale_strides;
  if (in_front) *shape++ = p.batch, *stride++ = extent;
  for (std::size_t i = 0; i < static_cast<std::size_t>(one.rank); ++i)
    *shape++ = one.shape[i], *stride++ = one.stride[i];
  r.scale_bytes = extent * (in_front ? p.batch : 1) * size_bytes(one.type);
  if (!w.format) return r;
  gemm_problem with = p;
  with.scale_d = make_block_result(*w.format, p.m, cols, w.order, p.batch);
  if (with.scale_d->desc.second_level) r.second_offset = second_level_offset(with);
  return r;
}

}  // namespace tw
