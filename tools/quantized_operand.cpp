// SPDX-License-Identifier: Apache-2.0
// quantized_operand.cpp  On the host: problem/quantize.hpp.
#include "tools/quantized_operand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand.hpp"

namespace tw {

quantized_operand::quantized_operand(matrix_view const& wide, bool is_b, scaling kind, elem to) {
  if (wide.matrices != 1)
    refuse("TW0452", "matrix to quantise", fmt::format("a stack of {}", wide.matrices),
           "a single matrix", "quantise each with `tilewright quantize`");
  operand const read(wide, wide.doubles ? elem::f32 : wide.type);
  matrix_view const from = is_b ? transposed(read.view()) : read.view();  // (outer, k)
  scaled_operand const x{is_b, from.rows, from.cols};
  desc_ = make_scale(x, kind);
  quantize_problem const p{from.rows, from.cols, from.desc(), {to, order::row_major, from.cols},
                           desc_,     false};
  if (auto const why = accept(p)) throw rejected(*why);
  values_ = {to, order::row_major, from.rows, from.cols};
  scales_ = {elem::f32, order::row_major, 1, scale_extent(desc_, x.outer, x.k)};
  value_bytes_ = host_buffer(values_.size());
  scale_bytes_ = host_buffer(scales_.size());
  std::fill_n(scale_bytes_.data(), scales_.size().count, std::byte{0});
  quantize(p, from.data, value_bytes_.data(), scale_bytes_.data());
  values_.data = value_bytes_.data();
  scales_.data = scale_bytes_.data();
  if (is_b) values_ = transposed(values_);
}

}  // namespace tw
