// SPDX-License-Identifier: Apache-2.0
// check.hpp  D against a float64 reference by OpenBLAS, element by element, within the proven
// bound.
#pragma once

#include <cstdint>

#include "tilewright/problem/gemm.hpp"

namespace tw {

/// One element that is worth showing.
struct check_place {
  std::int64_t row = 0, col = 0;
  double got = 0, expected = 0, bound = 0;
  double error = 0;          // |got - expected|; infinite where one of them is not a number
  double ratio = 0;          // error / bound
  std::int64_t product = 0;  // of a batch
};

struct check_report {
  std::int64_t rows = 0, rows_checked = 0, cols = 0;  // rows of all products of a batch
  std::int64_t wrong = 0;                             // elements beyond the bound
  std::int64_t unjudged = 0;  // elements that only an overflow of float32 on the way explains
  check_place largest_error, largest_ratio;
  std::int64_t scales = 0, wrong_scales = 0;  // of D: that were judged; that are wrong
  std::int64_t judged = 0;                    // those of an auxiliary output too
  std::int64_t bad_group = -1;                // the first group whose number is not possible

  /// A check that could judge fewer of the compared elements than this has not passed.
  static constexpr double min_judged_share = 0.9;
  bool judged_enough() const {
    if (rows == 0) return true;  // nothing to judge
    return judged > 0 &&
           static_cast<double>(judged) >= min_judged_share * static_cast<double>(judged + unjudged);
  }
  bool passed() const {
    return wrong == 0 && wrong_scales == 0 && bad_group < 0 && judged_enough();
  }
};

/// Compares D (o.d) with alpha A B + beta C, or with the fused epilogue. All pointers are host
/// pointers. Problems of more than `max_flops` floating-point operations are checked on whole rows:
/// one from each of equally tall slices of D, chosen by a fixed seed; of a batch, each matrix on
/// its share. Each group is checked as a separate GEMM (problem/group_slices.hpp). Memory: about
/// 50 MB, whatever the size.
check_report check_gemm(gemm_problem const& p, gemm_operands const& o, double max_flops = 2e11);

}  // namespace tw
