// SPDX-License-Identifier: Apache-2.0
// check_scales.hpp  Are the scales that a GEMM wrote beside D those of D's blocks? A scale is a
//                   monotonous function of amax, and amax lies between the smallest and the largest
//                   that the elements' bounds in float32 allow.
#pragma once

#include <vector>

#include "tilewright/problem/fused_bound.hpp"
#include "tools/check/check.hpp"

namespace tw {

class scale_check {
 public:
  /// For scales of the rows `rows` of a problem.
  scale_check(gemm_problem const& p, std::vector<std::int64_t> rows);

  /// Takes an element into account: of rows[i] and column `col` of D. `slack` is added to its
  /// bound.
  void add(std::size_t i, std::int64_t col, exact_fused const& x, double slack = 0);

  /// Once all columns have been added.
  void judge(gemm_operands const& o, check_report& report) const;

 private:
  void judge_blocks(gemm_operands const& o, check_report& report) const;

  struct amax_range {
    double low = 0, high = 0;
    bool any = true;   // false: an overflow of float32 on the way may decide it
    bool nan = false;  // an element is NaN, and D's type has none: so is the factor of the block
  };

  gemm_problem const& p_;
  std::vector<std::int64_t> rows_;
  fused_terms terms_;  // of D in float32
  std::int64_t blocks_;
  std::vector<amax_range> ranges_;
};

}  // namespace tw
