// SPDX-License-Identifier: Apache-2.0
// accept.hpp  Whether a problem can be computed at all, independent of device and pointers.
#pragma once

#include <optional>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

/// Has D no elements, because M, N or the number of GEMMs in the batch or of groups is 0? gemm()
/// and gemm_emulated() of such a problem do nothing, as in BLAS; there is no plan for it.
constexpr bool computes_nothing(gemm_problem const& p) {
  bool const no_groups = p.groups && p.groups->count == 0;
  return p.m >= 0 && p.n >= 0 && p.batch >= 0 &&
         (p.m == 0 || p.n == 0 || p.batch == 0 || no_groups);
}

/// Can A have type `a` and B type `b`?
bool are_operands(elem a, elem b);
/// Types that D may have without scales, for operands of these types.
std::vector<elem> result_types(elem a, elem b);

/// Nothing, or the first rule that the problem breaks: TW0401 extents, TW0402 pitch, TW0403 size,
/// TW0404 and TW0405 types, TW0406 and TW0407 alpha and beta, TW0411 to TW0413 and TW0415 the
/// epilogue, TW0416 values that are no enumerator, TW0420 to TW0425 batches, TW0437 to TW0439 how
/// sums are kept, TW0492 to TW0494 groups.
std::optional<rejection> accept(gemm_problem const& p);

}  // namespace tw
