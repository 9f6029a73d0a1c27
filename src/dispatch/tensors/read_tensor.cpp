// SPDX-License-Identifier: Apache-2.0
// read_tensor.cpp  Types by DLPack's numbers, and strides to an order and a leading dimension.
#include "dispatch/tensors/read_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {
namespace {

/// Codes of DLDataTypeCode.
enum dl_code : std::uint8_t {
  dl_int = 0,
  dl_uint = 1,
  dl_float = 2,
  dl_bfloat = 4,
  dl_complex = 5,
  dl_bool = 6,
  dl_e4m3fn = 10,
  dl_e5m2 = 12,
  dl_e8m0 = 14,
  dl_e2m1 = 17
};

/// Arguments for which a type serves.
enum uses : std::uint8_t {
  as_operand = 1,
  as_result = 2,
  as_vector = 4,
  as_scale = 8,
  as_any = 15
};

struct type_row {
  elem type;
  std::uint8_t code, bits;
  char const* name;
  int used_as;
};
constexpr type_row type_rows[] = {
    {elem::f32, dl_float, 32, "float32", as_any},
    {elem::f16, dl_float, 16, "float16", as_operand | as_result | as_vector},
    {elem::bf16, dl_bfloat, 16, "bfloat16", as_operand | as_result | as_vector},
    {elem::e4m3, dl_e4m3fn, 8, "float8_e4m3fn", as_any ^ as_vector},
    {elem::e5m2, dl_e5m2, 8, "float8_e5m2", as_operand | as_result},
    {elem::s32, dl_int, 32, "int32", as_result | as_scale},
    {elem::s8, dl_int, 8, "int8", as_operand | as_result},
    {elem::u8, dl_uint, 8, "uint8", as_any ^ as_vector},
    {elem::ue8m0, dl_e8m0, 8, "float8_e8m0fnu", as_scale},
    {elem::e2m1, dl_e2m1, 4, "float4_e2m1fn", as_operand | as_result}};

/// The uses of an argument: `x` is what quantize() reads.
int uses_of(std::string_view argument) {
  if (argument == "a" || argument == "b") return as_operand;
  if (argument == "c" || argument == "bias" || argument == "x") return as_vector;
  if (argument == "d" || argument == "aux") return as_result;
  return argument.starts_with("scale") ? as_scale : as_any;
}

type_row const* row_of(tensor_type t) {
  for (type_row const& r : type_rows)
    if (r.code == t.code && r.bits == t.bits) return &r;
  return nullptr;
}

std::string text_of_extents(operand_extents const& x) {
  return fmt::format("{}x{}", x.rows, x.cols);
}

}  // namespace

std::string type_name(tensor_type t) {
  type_row const* const r = row_of(t);
  std::string text = r != nullptr           ? std::string(r->name)
                     : t.code == dl_int     ? fmt::format("int{}", t.bits)
                     : t.code == dl_uint    ? fmt::format("uint{}", t.bits)
                     : t.code == dl_float   ? fmt::format("float{}", t.bits)
                     : t.code == dl_complex ? fmt::format("complex{}", t.bits)
                     : t.code == dl_bool    ? std::string("bool")
                                         : fmt::format("DLPack code {}, {} bits", t.code, t.bits);
  if (t.code == dl_e2m1 && t.bits == 4 && t.lanes == 2) return text + "_x2";
  return t.lanes == 1 ? text : text + fmt::format(" of {} lanes", t.lanes);
}

tensor_type type_in_tensors(elem e) {
  e = with_sign(e);
  if (packs_in_pairs(e)) return {dl_e2m1, 4, 2};
  for (type_row const& r : type_rows)
    if (r.type == e) return {r.code, r.bits, 1};
  return {};
}

elem element_type(tensor_type t, char const* argument) {
  type_row const* const r = row_of(t);
  bool const pair = t.code == dl_e2m1 && t.lanes == 2;
  if (r != nullptr && (t.lanes == 1 || pair)) return r->type;
  int const uses = uses_of(argument);
  std::string names;
  for (type_row const& known : type_rows)
    if ((known.used_as & uses) != 0)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  bool const real = t.code == dl_float || t.code == dl_int || t.code == dl_bool;
  std::string const hint = !real || t.lanes != 1 || uses == as_result ? ""
                           : uses != as_operand                       ? "convert it to float32"
                           : t.code == dl_float
                               ? "convert it to float32, which is multiplied as tf32"
                               : "convert it to int8, or to float32, which is multiplied as tf32";
  refuse_argument("TW0483", fmt::format("type of {}", argument), type_name(t), names, hint);
}

std::string list_text(std::int64_t const* list, int rank) {
  if (list == nullptr) return "of C order";
  std::string text = "(";
  for (int i = 0; i < rank; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", list[i]);
  return text + (rank == 1 ? ",)" : ")");
}

std::int64_t stride_of(tensor_argument const& t, int dimension) {
  if (t.strides != nullptr) return t.strides[dimension];
  std::int64_t stride = 1;
  for (int i = dimension + 1; i < t.rank; ++i) stride *= std::max<std::int64_t>(t.shape[i], 1);
  return stride;
}

scale_tensor scale_tensor_of(tensor_argument const& t, char const* argument) {
  if (t.rank > 3)
    refuse_argument("TW0481", fmt::format("dimensions of {}", argument), fmt::format("{}", t.rank),
                    "at most 3: two, and a batch in front");
  scale_tensor s;
  s.type = element_type(t.type, argument);
  s.rank = t.rank;
  for (int i = 0; i < t.rank; ++i) {
    s.shape[static_cast<std::size_t>(i)] = t.shape[i];
    s.stride[static_cast<std::size_t>(i)] = stride_of(t, i);
  }
  return s;
}

tensor_matrix matrix_of_tensor(tensor_argument const& t, char const* argument, packed_along pairs,
                               bool bytes_are_pairs) {
  int const rank = t.rank;
  if (rank != 2 && rank != 3)
    refuse_argument("TW0481", fmt::format("dimensions of {}", argument),
                    rank == 0 ? "none" : fmt::format("{}, {}", rank, list_text(t.shape, rank)),
                    "2, or 3 with the batch in front",
                    rank == 1 ? "a vector is a matrix of one row or one column: reshape it" : "");
  tensor_matrix m;
  m.desc.type = element_type(t.type, argument);
  if (bytes_are_pairs && m.desc.type == elem::u8) m.desc.type = elem::e2m1;
  m.rows = t.shape[rank - 2], m.cols = t.shape[rank - 1];
  m.matrices = rank == 3 ? t.shape[0] : 1;
  for (int i = 0; i < rank; ++i)
    if (t.shape[i] < 0)
      refuse_argument("TW0481", fmt::format("shape of {}", argument), list_text(t.shape, rank),
                      "extents of 0 or more");
  std::int64_t row = stride_of(t, rank - 2), col = stride_of(t, rank - 1);
  std::int64_t batch = rank == 3 && m.matrices != 1 ? stride_of(t, 0) : 0;
  bool const empty = m.rows == 0 || m.cols == 0 || m.matrices == 0;
  auto const strides_text = [&] { return list_text(t.strides, rank); };
  auto const refuse_strides = [&](std::string const& need, std::string const& hint) {
    refuse_argument("TW0482", fmt::format("strides of {}", argument),
                    fmt::format("{} of shape {}", strides_text(), list_text(t.shape, rank)), need,
                    hint);
  };
  char const* const copy = "copy it first: ascontiguousarray() of NumPy, contiguous() of torch";
  bool const one_row = m.rows == 1, one_col = m.cols == 1;
  if (!empty) {
    if ((!one_row && row < 0) || (!one_col && col < 0) || batch < 0)
      refuse_strides("positive strides", copy);
    if ((!one_row && row == 0) || (!one_col && col == 0))
      refuse_strides("a stride of 0 in front alone: a matrix that all of the batch share",
                     "a row or a column that is repeated is a copy in memory: contiguous()");
    if (!one_row && !one_col && row != 1 && col != 1)
      refuse_strides("1 for one of the last two dimensions", copy);
  }
  bool const wants_rows = pairs == packed_along::cols;  // A and D; B is contiguous along its rows
  bool row_major = true;
  if (empty)
    row = std::max<std::int64_t>(m.cols, 1);
  else if (one_row && one_col)
    row_major = wants_rows, row = col = 1;
  else if (one_row)
    row_major = wants_rows && col == 1, row = row_major ? m.cols : 1;
  else if (one_col)
    row_major = wants_rows || row != 1, col = row_major ? 1 : m.rows;
  else
    row_major = col == 1;
  m.desc.ord = row_major ? order::row_major : order::col_major;
  m.desc.pitch_elems = row_major ? row : col;
  m.desc.batch_stride_elems = batch;
  std::int64_t const line = row_major ? m.cols : m.rows;
  if (!empty && m.desc.pitch_elems < line)
    refuse_argument(
        "TW0402", fmt::format("strides of {}", argument),
        fmt::format("{} of shape {}", strides_text(), list_text(t.shape, rank)),
        fmt::format("at least {} and 1: {} must not overlap", line, row_major ? "rows" : "columns"),
        copy);
  if (!packs_in_pairs(m.desc.type)) return m;
  // The extent along K counts bytes if an element of the tensor is a pair.
  bool const along_rows = pairs == packed_along::rows;
  if (!empty && row_major == along_rows)
    refuse_strides("1 along K: two e2m1 lie in a byte",
                   "pass weights of (n, k) as their transpose, which is a view");
  bool const counts_bytes = t.type.code != dl_e2m1 || t.type.lanes == 2;
  if (!counts_bytes) return m;
  (along_rows ? m.rows : m.cols) *= 2;
  m.desc.pitch_elems *= 2, m.desc.batch_stride_elems *= 2;
  return m;
}

std::int64_t batch_of(std::initializer_list<operand_extents> operands) {
  std::int64_t batch = 1;
  for (operand_extents const& x : operands)
    if (x.matrices != 1) batch = x.matrices;
  for (operand_extents const& x : operands)
    if (x.matrices != 1 && x.matrices != batch)
      refuse_argument("TW0616", fmt::format("matrices in {}", x.name),
                      fmt::format("{}", x.matrices),
                      fmt::format("{}, as in another stack, or a single one for all", batch));
  return batch;
}

void check_inner_extents(operand_extents const& a, operand_extents const& b,
                         std::string const& hint) {
  if (a.cols == b.rows) return;
  refuse_argument(
      "TW0616", fmt::format("inner dimensions of {} {}", a.name, b.name),
      fmt::format("{} {}, {} {}", a.name, text_of_extents(a), b.name, text_of_extents(b)),
      fmt::format("as many rows in {} as columns in {}", b.name, a.name), hint);
}

void check_result_extents(operand_extents const& x, std::int64_t rows, std::int64_t cols) {
  if (x.rows == rows && x.cols == cols) return;
  refuse_argument("TW0616", fmt::format("shape of {}", x.name), text_of_extents(x),
                  fmt::format("{}x{}, the shape of D", rows, cols));
}

}  // namespace tw
