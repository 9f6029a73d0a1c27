// SPDX-License-Identifier: Apache-2.0
// result_scale_text.cpp  As the scales of an operand of D's extents.
#include "tools/report/result_scale_text.hpp"

#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw {

std::string result_scale_text(output_scales const& s, std::int64_t rows, std::int64_t cols,
                              std::int64_t batch) {
  if (s.given) return "given";
  if (is_block_scale(s.desc)) return block_scale_text(s.desc, {false, rows, cols, batch});
  return scale_text(s.desc, {false, rows, cols, batch}) + (s.power_of_two ? ", powers of two" : "");
}

}  // namespace tw
