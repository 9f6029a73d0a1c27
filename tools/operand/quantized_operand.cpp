// SPDX-License-Identifier: Apache-2.0
// quantized_operand.cpp  On the host: problem/quantize.hpp.
#include "tools/operand/quantized_operand.hpp"

#include <algorithm>
#include <cstring>

#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/operand/operand.hpp"

namespace tw {

quantized_operand::quantized_operand(matrix_view const& wide, bool is_b, scaling kind, elem to,
                                     std::optional<float> given) {
  operand const read(wide, wide.doubles ? elem::f32 : wide.type);
  matrix_view const from = is_b ? transposed(read.view()) : read.view();  // (outer, k)
  desc_ = make_scale({is_b, from.rows, from.cols}, kind);
  quantize_problem const p{
      from.rows, from.cols, from.desc(),      {to, order::row_major, from.cols},
      desc_,     false,     given.has_value()};
  if (auto const why = accept(p)) throw rejected(*why);
  std::int64_t const of_each = scale_extent(desc_, p.outer, p.k);  // scales of a matrix
  if (from.matrices > 1 && !given) desc_.batch_stride = of_each;
  values_ = {to, order::row_major, p.outer, p.k, nullptr, from.matrices};
  scales_ = {elem::f32, order::row_major, 1, given ? 1 : of_each * from.matrices};
  value_bytes_ = host_buffer(values_.size());
  scale_bytes_ = host_buffer(scales_.size());
  std::fill_n(scale_bytes_.data(), scales_.size().count, std::byte{0});
  if (given) std::memcpy(scale_bytes_.data(), &*given, sizeof *given);
  std::int64_t const wide_bytes = bytes_of(from.type, elements{p.outer * p.k}).count;
  for (std::int64_t i = 0; i < from.matrices; ++i)
    quantize(p, from.data + i * wide_bytes, value_bytes_.data() + i * p.outer * p.k,
             scale_bytes_.data() + (given ? 0 : i * of_each) * size_bytes(elem::f32));
  values_.data = value_bytes_.data();
  scales_.data = scale_bytes_.data();
  if (is_b) values_ = transposed(values_);
}

}  // namespace tw
