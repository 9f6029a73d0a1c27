// SPDX-License-Identifier: Apache-2.0
// result_scale_request.cpp  Words to the scales of D.
#include "tools/request/result_scale_request.hpp"

#include "tilewright/problem/block_result.hpp"
#include "tools/operand/scale_file.hpp"

namespace tw {

output_scales result_scales_of(result_scale_request const& r, std::int64_t rows, std::int64_t cols,
                               std::int64_t batch) {
  if (r.format) return make_block_result(*r.format, rows, cols, r.order, batch);
  if (!r.computed()) return {.desc = {}, .given = true};
  scale_convention const c = [&] {
    try {
      return scales_to_write({false, rows, cols}, r.kind(), r.library, r.type);
    } catch (rejected const& of_operand) {
      rejection why = of_operand.why();
      why.what = "scales of D";
      throw rejected(why);
    }
  }();
  output_scales s{c.desc, false, r.power_of_two};
  if (batch > 1) s.desc.batch_stride = elements_of(c.tensor) * s.desc.packed_k;
  return s;
}

}  // namespace tw
